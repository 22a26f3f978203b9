#pragma once

#include <array>

#include "executor/data/formats/resize.h"

namespace slipway {

// Moving pixels. Pure functions of images; `fill` is a byte for every channel.

/// The shorter side becomes `side`, the other keeps the proportion (rounded down), as torchvision.
Image with_shorter_side(const Image& image, std::int64_t side);
/// What with_shorter_side gives for an image of this size.
std::array<std::int64_t, 2> size_with_shorter_side(std::int64_t height, std::int64_t width,
                                                   std::int64_t side);

/// `box` must lie within the image.
Image cropped(const Image& image, const Box& box);
/// `pixels` more on every side.
Image padded(const Image& image, std::int64_t pixels, std::uint8_t fill);
/// The middle; black around an image that is smaller. Halves are rounded to even, as torchvision.
Image center_cropped(const Image& image, std::int64_t height, std::int64_t width);
/// The largest part in the middle that has this proportion, stretched to it.
Image center_resized(const Image& image, std::int64_t height, std::int64_t width);

Image flipped_horizontally(Image image);
Image flipped_vertically(Image image);

/// Where things go around the middle of an image: first slanted by `shear` degrees along the
/// width, scaled, turned clockwise by `degrees`, then moved by whole pixels.
struct AffineMove {
    double degrees = 0;
    double right = 0;    ///< pixels
    double down = 0;
    double scale = 1;
    double shear = 0;
};

/// Same size; each pixel is interpolated between the four around the place that it comes from (no
/// antialiasing), pixels from outside are `fill`. As torchvision's affine with BILINEAR; rotate
/// turns the other way.
Image moved(const Image& image, const AffineMove& move, std::uint8_t fill);

}    // namespace slipway
