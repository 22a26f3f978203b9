#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "executor/data/augment/steps.h"
#include "executor/data/samples.h"

namespace slipway {

struct AugmentOptions {
    std::vector<AugmentSpec> steps = {};
    std::uint64_t seed = 0;
    bool draws = true;                      ///< false: what evaluation sees
    ImageSize size = {};                    ///< of the images before the steps; none: they differ
    std::optional<Moments> moments = {};    ///< (x - mean) / deviation, after the steps
    std::int64_t cache_bytes_max = 512 << 20;    ///< of pixels before the first drawn step
};

/// The images of `dataset` through the steps, as f32 [channels, height, width] in [0, 1] or
/// normalised, and the labels of `labels`. Draws from (seed, epoch, sample) alone. `dataset` must
/// outlive the result.
/// errors  invalid_argument when the set is not one of images, when sizes do not fit (naming the
///         step), and for moments that do not fit; reading throws DataError also for an image that
///         is too small for a crop
std::unique_ptr<Samples> augmented_samples(const Dataset& dataset, std::unique_ptr<Samples> labels,
                                           AugmentOptions options);

}    // namespace slipway
