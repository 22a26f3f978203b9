#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "api/spec/pixel_layout.h"
#include "executor/data/formats/image.h"

namespace slipway {

/// Sides of an image that is stored as bytes, one for each channel of each pixel.
struct RawPixels {
    std::int32_t height = 0;    ///< 0: the image is a JPEG or PNG file
    std::int32_t width = 0;
    std::int32_t channels = 0;
    PixelLayout layout = PixelLayout::interleaved;

    bool given() const { return height > 0; }
};

/// Why height, width and depth are none of an image, in words; none when they are.
std::optional<std::string> shape_problem(const std::array<std::int64_t, 3>& shape);

/// Why so many bytes are no image of this shape, in words; none when they are.
std::optional<std::string> size_problem(std::size_t bytes,
                                        const std::array<std::int64_t, 3>& shape);

/// The image that the bytes are; there are as many as the sides ask for.
Image raw_image(std::span<const std::byte> bytes, const RawPixels& sides);

}    // namespace slipway
