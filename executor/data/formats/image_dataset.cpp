#include "executor/data/formats/image_dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/base/check.h"
#include "executor/tensor/parallel.h"

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
        const bool listed_later =
            mode == ProblemLog::Mode::collect || options_.truncated_images != TruncatedImages::fail;
        if (!header && !listed_later) refuse(sample, header.error().what());
        if (!header) continue;    // whoever tolerates damage reads every image and lists this one
        const bool square = options_.image_size > 0;
        index_.feature_dims = {
            options_.channels > 0 ? options_.channels : common_channels(*header, sample),
            square ? options_.image_size : header->height,
            square ? options_.image_size : header->width};
        return;
    }
}

Result<ImageHeader> ImageDataset::header_of(std::int64_t sample,
                                            std::optional<std::int64_t> bytes_max) const {
    try {
        return source_->header(sample, bytes_max ? source_->read_beginning(sample, *bytes_max)
                                                 : source_->read(sample));
    } catch (const DataError& error) {    // take_shape decides what an unreadable file means
        return Error{error.code(), error.problem().message};
    }
}

bool ImageDataset::is_in_colour(std::int64_t sample) const {
    constexpr std::int64_t short_header = 4 << 10;
    constexpr std::int64_t long_header = 64 << 10;    // with a preview image in it
    for (const std::optional<std::int64_t> bytes_max :
         {std::optional(short_header), std::optional(long_header), std::optional<std::int64_t>()})
        if (const auto header = header_of(sample, bytes_max)) return header->channels == 3;
    return false;    // a damaged one is named when it is read
}

std::int64_t ImageDataset::common_channels(const ImageHeader& first, std::int64_t sample) const {
    if (first.channels == 3) return 3;
    constexpr std::int64_t block_samples = 256;
    std::atomic<bool> coloured = false;
    const std::int64_t begin = sample + 1;
    const std::int64_t blocks = (size() - begin + block_samples - 1) / block_samples;
    parallel_for(blocks, 0, [&](std::int64_t block) {
        const std::int64_t from = begin + block * block_samples;
        const std::int64_t end = std::min(from + block_samples, size());
        for (std::int64_t i = from; i < end && !coloured; ++i)
            if (is_in_colour(i)) coloured = true;
    });
    return coloured ? 3 : 1;
}

void ImageDataset::read(std::int64_t sample, std::span<float> features) const {
    check(features.size() == feature_count(),
          "a sample is read into a buffer of its features' size");
    const auto channels = std::size_t(index_.feature_dims[0]);
    if (const auto pixels = cached(sample); !pixels.empty()) {
        return to_planes(pixels, channels, features);
    }
    const Image image = fitted(sample, decode(sample, options_.image_size));
    keep(sample, image.pixels);
    to_planes(image.pixels, channels, features);
}

Image ImageDataset::image(std::int64_t sample, std::int64_t side_hint) const {
    if (!resizes()) return decode(sample, side_hint);
    const Dims& dims = index_.feature_dims;
    if (const auto pixels = cached(sample); !pixels.empty()) {
        return {dims[0], dims[1], dims[2], {pixels.begin(), pixels.end()}};
    }
    Image image = fitted(sample, decode(sample, options_.image_size));
    keep(sample, image.pixels);
    return image;
}

std::optional<DataProblem> ImageDataset::damage(std::int64_t sample) const {
    const std::int64_t channels = index_.feature_dims.empty() ? 0 : index_.feature_dims[0];
    ++decoded_;
    Result<Image> image =
        source_->decode(sample, source_->read(sample), {channels, options_.image_size});
    if (!image) {
        DataProblem problem = place(sample);
        problem.message = image.error().what();
        return problem;
    }
    // Work that the first epoch would do again.
    if (resizes()) keep(sample, fitted(sample, std::move(image).value()).pixels);
    return std::nullopt;
}

std::vector<DataProblem> ImageDataset::take_accepted() const {
    const std::lock_guard lock(mutex_);
    return std::exchange(told_later_, {});
}

bool ImageDataset::is_accepted(std::int64_t sample) const {
    if (options_.truncated_images != TruncatedImages::accept) return false;
    const std::lock_guard lock(mutex_);
    return accepted_.contains(sample);
}

void ImageDataset::keep_no_images() {
    cached_pixels_.reset();
    cache_states_.reset();
}

std::span<const std::uint8_t> ImageDataset::cached(std::int64_t sample) const {
    if (!cached_pixels_) return {};
    const std::atomic<std::uint8_t>& state = cache_states_[std::size_t(sample)];
    if (state.load(std::memory_order_acquire) != ready) return {};
    return {&cached_pixels_[std::size_t(sample) * feature_count()], feature_count()};
}

void ImageDataset::keep(std::int64_t sample, std::span<const std::uint8_t> pixels) const {
    if (!cached_pixels_) return;
    std::atomic<std::uint8_t>& state = cache_states_[std::size_t(sample)];
    std::uint8_t expected = absent;
    if (!state.compare_exchange_strong(expected, written, std::memory_order_relaxed)) return;
    std::copy(pixels.begin(), pixels.end(), &cached_pixels_[std::size_t(sample) * feature_count()]);
    state.store(ready, std::memory_order_release);
}

Image ImageDataset::fitted(std::int64_t sample, Image image) const {
    const std::int64_t height = index_.feature_dims[1];
    const std::int64_t width = index_.feature_dims[2];
    if (resizes()) return resized(image, height, width);
    if (image.height != height || image.width != width) {
        refuse(sample, fmt::format("the image has {} x {} pixels where the first has {} x {}; set "
                                   "image_size to bring all to one size",
                                   image.width, image.height, width, height));
    }
    return image;
}

Image ImageDataset::decode(std::int64_t sample) const {
    return decode(sample, 0);
}

Image ImageDataset::decode(std::int64_t sample, std::int64_t side_hint) const {
    const std::int64_t channels = index_.feature_dims.empty() ? 0 : index_.feature_dims[0];
    const std::vector<std::byte> file = source_->read(sample);
    ++decoded_;
    Result<Image> image = source_->decode(sample, file, {channels, side_hint});
    if (image) return std::move(image).value();
    return accepted(sample, file, side_hint, image.error().what());
}

Image ImageDataset::accepted(std::int64_t sample, std::span<const std::byte> file,
                             std::int64_t side_hint, const std::string& message) const {
    const Dims& dims = index_.feature_dims;
    if (options_.truncated_images != TruncatedImages::accept || dims.empty()) {
        refuse(sample, message);
    }
    {
        const std::lock_guard lock(mutex_);
        if (accepted_.insert(sample).second) {
            told_later_.push_back(place(sample));
            told_later_.back().message = message;
        }
    }
    Result<Image> partly = source_->decode(sample, file, {dims[0], side_hint, true});
    if (partly) return std::move(partly).value();
    const Result<ImageHeader> header = source_->header(sample, file);
    const std::int64_t height = header ? header->height : dims[1];
    const std::int64_t width = header ? header->width : dims[2];
    constexpr std::uint8_t gray = 127;
    return {dims[0], height, width,
            std::vector<std::uint8_t>(std::size_t(dims[0] * height * width), gray)};
}

void ImageDataset::refuse(std::int64_t sample, const std::string& message) const {
    DataProblem problem = place(sample);
    problem.message = message;
    throw DataError(std::move(problem));
}

}    // namespace slipway
