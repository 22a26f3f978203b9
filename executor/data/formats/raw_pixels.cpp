#include "executor/data/formats/raw_pixels.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/base/check.h"

namespace slipway {

std::optional<std::string> shape_problem(const std::array<std::int64_t, 3>& shape) {
    const auto [height, width, depth] = shape;
    const bool sides = height >= 1 && width >= 1 && height <= image_pixels_max &&
                       width <= image_pixels_max && height * width <= image_pixels_max;
    if (sides && (depth == 1 || depth == 3)) return std::nullopt;
    return fmt::format(
        "height, width and depth are {} x {} x {}; an image has at least 1 x 1 and "
        "at most {} pixels, and a depth of 1 or 3",
        height, width, depth, image_pixels_max);
}

std::optional<std::string> size_problem(std::size_t bytes,
                                        const std::array<std::int64_t, 3>& shape) {
    const auto [height, width, depth] = shape;
    const std::int64_t wanted = height * width * depth;
    if (bytes == std::size_t(wanted)) return std::nullopt;
    return fmt::format("it has {} bytes where {} x {} x {} pixels are {}", bytes, height, width,
                       depth, wanted);
}

Image raw_image(std::span<const std::byte> bytes, const RawPixels& sides) {
    Image image{sides.channels, sides.height, sides.width, std::vector<std::uint8_t>(bytes.size())};
    const auto channels = std::size_t(sides.channels);
    const std::size_t area = std::size_t(sides.height) * std::size_t(sides.width);
    check(bytes.size() == area * channels, "raw pixels were counted when they were found");
    const bool planar = sides.layout == PixelLayout::planar;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::size_t from = planar ? i % channels * area + i / channels : i;
        image.pixels[i] = std::to_integer<std::uint8_t>(bytes[from]);
    }
    return image;
}

}    // namespace slipway
