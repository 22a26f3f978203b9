#include "executor/data/formats/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "api/base/check.h"

namespace slipway {

namespace {

/// What the pixels of a new line are made of: `count` pixels from `first[i]` on, each by its
/// weight. Pixels near an edge have weights of 0 so that all have as many.
struct Taps {
    std::size_t count = 0;
    std::vector<std::size_t> first;
    std::vector<float> weights;    ///< of new pixel i from i * count on

    const float* of(std::size_t i) const { return &weights[i * count]; }
};

Taps triangle_taps(std::int64_t from, std::int64_t to) {
    const double scale = double(from) / double(to);
    const double support = std::max(scale, 1.0);
    Taps taps;
    taps.count = std::size_t(std::min(from, std::int64_t(std::ceil(2 * support)) + 1));
    taps.first.resize(std::size_t(to));
    taps.weights.resize(std::size_t(to) * taps.count);
    for (std::int64_t i = 0; i < to; ++i) {
        const double centre = (double(i) + 0.5) * scale;
        const auto begin =
            std::max<std::int64_t>(0, std::int64_t(std::floor(centre - support + 0.5)));
        const auto end =
            std::min<std::int64_t>(from, std::int64_t(std::floor(centre + support + 0.5)));
        const auto first = std::min(begin, from - std::int64_t(taps.count));
        float* weights = &taps.weights[std::size_t(i) * taps.count];
        double sum = 0;
        const auto weight_of = [&](std::int64_t j) {
            return std::max(0.0, 1 - std::abs((double(j) + 0.5 - centre) / support));
        };
        for (std::int64_t j = begin; j < end; ++j)
            sum += weight_of(j);
        for (std::int64_t j = begin; j < end; ++j)
            weights[j - first] = float(weight_of(j) / sum);
        taps.first[std::size_t(i)] = std::size_t(first);
    }
    return taps;
}

/// A new line out of `rows`, which begin `stride` bytes apart, before it is resized itself.
void mix_rows(const std::uint8_t* rows, std::size_t stride, std::span<const float> weights,
              std::span<float> line) {
    const std::size_t size = line.size();
    std::fill(line.begin(), line.end(), 0.0F);
    for (const float weight : weights) {
        for (std::size_t x = 0; x < size; ++x)
            line[x] += weight * float(rows[x]);
        rows += stride;
    }
}

/// Adds four numbers at once: the three of a pixel and one that the next pixel writes over.
using Four [[gnu::vector_size(4 * sizeof(float))]] = float;

void mix_colours(const float* line, const Taps& taps, float* mixed) {
    for (std::size_t i = 0; i < taps.first.size(); ++i) {
        const float* pixel = line + 3 * taps.first[i];
        const float* weights = taps.of(i);
        Four sum{};
        for (std::size_t j = 0; j < taps.count; ++j) {
            Four colours;
            std::memcpy(&colours, pixel + 3 * j, sizeof colours);
            sum += weights[j] * colours;
        }
        std::memcpy(mixed + 3 * i, &sum, sizeof sum);
    }
}

void mix_grays(const float* line, const Taps& taps, float* mixed) {
    for (std::size_t i = 0; i < taps.first.size(); ++i) {
        const float* pixel = line + taps.first[i];
        const float* weights = taps.of(i);
        float sum = 0;
        for (std::size_t j = 0; j < taps.count; ++j)
            sum += weights[j] * pixel[j];
        mixed[i] = sum;
    }
}

}    // namespace

Image resized(const Image& image, const Box& box, std::int64_t height, std::int64_t width) {
    check(image.channels == 1 || image.channels == 3, "an image is gray or RGB");
    check(box.top >= 0 && box.left >= 0 && box.height > 0 && box.width > 0 &&
              box.top + box.height <= image.height && box.left + box.width <= image.width,
          "a box lies within its image");
    const auto channels = std::size_t(image.channels);
    const std::size_t stride = std::size_t(image.width) * channels;
    const std::uint8_t* corner =
        &image.pixels[std::size_t(box.top) * stride + std::size_t(box.left) * channels];
    const Taps across = triangle_taps(box.width, width);
    const Taps down = triangle_taps(box.height, height);
    const std::size_t row = std::size_t(width) * channels;

    // One number more: four are moved where three are meant.
    std::vector<float> line(std::size_t(box.width) * channels + 1);
    std::vector<float> mixed(row + 1);
    Image result{image.channels, height, width, {}};
    result.pixels.resize(std::size_t(height) * row);
    for (std::size_t y = 0; y < std::size_t(height); ++y) {
        mix_rows(corner + down.first[y] * stride, stride, {down.of(y), down.count},
                 std::span(line).first(line.size() - 1));
        (channels == 3 ? mix_colours : mix_grays)(line.data(), across, mixed.data());
        std::uint8_t* to = &result.pixels[y * row];
        for (std::size_t x = 0; x < row; ++x)
            to[x] = std::uint8_t(std::min(mixed[x] + 0.5F, 255.0F));
    }
    return result;
}

Image resized(const Image& image, std::int64_t height, std::int64_t width) {
    if (image.height == height && image.width == width) return image;
    return resized(image, {0, 0, image.height, image.width}, height, width);
}

}    // namespace slipway
