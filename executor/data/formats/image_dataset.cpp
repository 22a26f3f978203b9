#include "executor/data/formats/image_dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/base/check.h"

namespace slipway {

ImageDataset::ImageDataset(DatasetIndex index, std::unique_ptr<ImageSource> source,
                           const DatasetOptions& options, const ProblemLog& problems)
    : source_(std::move(source)), options_(options) {
    index_ = std::move(index);
    take_shape(problems.mode());
    const std::int64_t bytes = size() * index_.feature_count();
    if (bytes > 0 && bytes <= options_.cache_bytes_max) {
        cached_pixels_ = std::make_unique_for_overwrite<std::uint8_t[]>(std::size_t(bytes));
        cache_states_ = std::make_unique<std::atomic<std::uint8_t>[]>(std::size_t(size()));
    }
}

void ImageDataset::take_shape(ProblemLog::Mode mode) {
    for (std::int64_t sample = 0; sample < size(); ++sample) {
        const Result<ImageHeader> header = header_of(sample);
        if (!header && mode == ProblemLog::Mode::throw_first) refuse(sample, header.error().what());
        if (!header) continue;    // an inspection reads every image later and lists this one then
        const bool square = options_.image_size > 0;
        index_.feature_dims = {options_.channels > 0 ? options_.channels : header->channels,
                               square ? options_.image_size : header->height,
                               square ? options_.image_size : header->width};
        return;
    }
}

Result<ImageHeader> ImageDataset::header_of(std::int64_t sample) const {
    try {
        return read_image_header(source_->read(sample));
    } catch (const DataError& error) {    // take_shape decides what an unreadable file means
        return Error{error.code(), error.problem().message};
    }
}

void ImageDataset::read(std::int64_t sample, std::span<float> features) const {
    const auto count = std::size_t(index_.feature_count());
    const auto channels = std::size_t(index_.feature_dims[0]);
    check(features.size() == count, "a sample is read into room for its features");
    if (!cached_pixels_) {
        std::vector<std::uint8_t> pixels(count);
        write_pixels(sample, pixels);
        return to_planes(pixels, channels, features);
    }
    const std::span<std::uint8_t> place(&cached_pixels_[std::size_t(sample) * count], count);
    std::atomic<std::uint8_t>& state = cache_states_[std::size_t(sample)];
    if (state.load(std::memory_order_acquire) == ready) return to_planes(place, channels, features);
    std::vector<std::uint8_t> pixels(count);
    write_pixels(sample, pixels);
    std::uint8_t expected = absent;
    if (state.compare_exchange_strong(expected, written, std::memory_order_relaxed)) {
        std::copy(pixels.begin(), pixels.end(), place.begin());
        state.store(ready, std::memory_order_release);
    }
    to_planes(pixels, channels, features);
}

void ImageDataset::write_pixels(std::int64_t sample, std::span<std::uint8_t> pixels) const {
    const std::int64_t height = index_.feature_dims[1];
    const std::int64_t width = index_.feature_dims[2];
    Image image = decode(sample, options_.image_size);
    if (options_.image_size > 0) {
        image = resized(image, height, width);
    } else if (image.height != height || image.width != width) {
        refuse(sample, fmt::format("the image has {} x {} pixels where the first has {} x {}; set "
                                   "image_size to bring all to one size",
                                   image.width, image.height, width, height));
    }
    std::copy(image.pixels.begin(), image.pixels.end(), pixels.begin());
}

Image ImageDataset::decode(std::int64_t sample) const {
    return decode(sample, 0);
}

Image ImageDataset::decode(std::int64_t sample, std::int64_t side_hint) const {
    const std::int64_t channels = index_.feature_dims.empty() ? 0 : index_.feature_dims[0];
    Result<Image> image = decode_image(source_->read(sample), {channels, side_hint});
    if (!image) refuse(sample, image.error().what());
    return std::move(image).value();
}

void ImageDataset::refuse(std::int64_t sample, const std::string& message) const {
    DataProblem problem = place(sample);
    problem.message = message;
    throw DataError(std::move(problem));
}

}    // namespace slipway
