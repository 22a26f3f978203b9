#include "executor/data/formats/image_dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "api/base/check.h"

namespace slipway {

namespace {

constexpr std::int64_t image_file_bytes_max = 256 << 20;

/// Interleaved bytes to planes of numbers in [0, 1].
void spread(std::span<const std::uint8_t> pixels, std::size_t channels, std::span<float> features) {
    const std::size_t area = pixels.size() / channels;
    for (std::size_t channel = 0; channel < channels; ++channel) {
        float* plane = &features[channel * area];
        const std::uint8_t* from = &pixels[channel];
        for (std::size_t i = 0; i < area; ++i)
            plane[i] = float(from[i * channels]) / 255.0F;
    }
}

}    // namespace

ImageDataset::ImageDataset(const std::filesystem::path& folder, ImageList list,
                           const DatasetOptions& options, const ProblemLog& problems)
    : folder_(folder), list_(std::move(list)), options_(options) {
    index_ = std::move(list_.index);
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
        return read_image_header(
            folder_.read(list_.names[std::size_t(sample)], image_file_bytes_max));
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
        return spread(pixels, channels, features);
    }
    const std::span<std::uint8_t> place(&cached_pixels_[std::size_t(sample) * count], count);
    std::atomic<std::uint8_t>& state = cache_states_[std::size_t(sample)];
    if (state.load(std::memory_order_acquire) == ready) return spread(place, channels, features);
    std::vector<std::uint8_t> pixels(count);
    write_pixels(sample, pixels);
    std::uint8_t expected = absent;
    if (state.compare_exchange_strong(expected, written, std::memory_order_relaxed)) {
        std::copy(pixels.begin(), pixels.end(), place.begin());
        state.store(ready, std::memory_order_release);
    }
    spread(pixels, channels, features);
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
    const std::string& name = list_.names[std::size_t(sample)];
    const std::int64_t channels = index_.feature_dims.empty() ? 0 : index_.feature_dims[0];
    Result<Image> image =
        decode_image(folder_.read(name, image_file_bytes_max), {channels, side_hint});
    if (!image) refuse(sample, image.error().what());
    return std::move(image).value();
}

void ImageDataset::refuse(std::int64_t sample, const std::string& message) const {
    throw DataError({.file = list_.names[std::size_t(sample)], .message = message});
}

DataProblem ImageDataset::place(std::int64_t sample) const {
    return {.file = list_.names[std::size_t(sample)]};
}

std::vector<std::string> ImageDataset::files() const {
    std::vector<std::string> files = list_.names;
    files.insert(files.end(), list_.other_files.begin(), list_.other_files.end());
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
    return files;
}

}    // namespace slipway
