#pragma once

#include "executor/data/formats/image.h"

namespace slipway {

// Changing colours, as torchvision's adjust_… functions: a factor of 1 changes nothing. Results are
// rounded to the nearest level, where torchvision cuts off.

/// Every level times `factor`.
Image with_brightness(Image image, double factor);
/// The distance from the image's mean brightness times `factor`.
Image with_contrast(Image image, double factor);
/// The distance from each pixel's own gray times `factor`; gray images stay as they are.
Image with_saturation(Image image, double factor);
/// Hues turned by `share` of the circle, in [-0.5, 0.5]; gray images stay as they are.
Image with_hue(Image image, double share);

}    // namespace slipway
