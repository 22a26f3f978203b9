#pragma once

#include "executor/data/formats/resize.h"
#include "executor/tensor/random.h"

namespace slipway {

// What is drawn for one sample, apart from what is done with it: distributions as torchvision's.

/// Uniform in [low, high).
double draw_between(RandomStream& random, double low, double high);
/// Uniform among the whole numbers of [0, most].
std::int64_t draw_up_to(RandomStream& random, std::int64_t most);

/// From Beta(alpha, alpha): between 0 and 1, on the mean a half.
double draw_beta(RandomStream& random, double alpha);

/// A box of this size anywhere within the image, which is not smaller.
Box draw_crop(RandomStream& random, const Image& image, std::int64_t height, std::int64_t width);

/// Least and most.
using Range = std::array<double, 2>;

/// A box with a share of the area drawn from `area`, and a width / height whose logarithm is drawn
/// from that of `ratio`. After ten draws that do not fit: the largest box in the middle with a
/// ratio within `ratio`.
Box draw_resized_crop(RandomStream& random, const Image& image, const Range& area,
                      const Range& ratio);

/// The same with height / width, smaller than the image; after ten draws an empty box.
Box draw_erased(RandomStream& random, const Image& image, const Range& area, const Range& ratio);

}    // namespace slipway
