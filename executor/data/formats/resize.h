#pragma once

#include "executor/data/formats/image.h"

namespace slipway {

/// A part of an image, in pixels from its upper left corner.
struct Box {
    std::int64_t top = 0;
    std::int64_t left = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;
    bool operator==(const Box&) const = default;
};

/// `box` of `image` stretched to height x width, as if the rest of the image were not there:
/// bilinear, and where it shrinks each pixel is the average of the area it covers under a triangle.
/// Within one level of Pillow's BILINEAR, which rounds between the two directions.
Image resized(const Image& image, const Box& box, std::int64_t height, std::int64_t width);

}    // namespace slipway
