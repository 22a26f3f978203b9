#pragma once

#include <memory>
#include <optional>
#include <span>
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
    std::size_t done = 0;    ///< first steps that the dataset's images have been through
};

/// How many steps come before the first that is drawn: their result lasts.
std::size_t lasting_step_count(std::span<const AugmentSpec> steps);
/// How far the first step shrinks an image at least, for a decoder that can do it in passing.
std::int64_t decoding_hint(std::span<const AugmentSpec> steps);

/// The images of `dataset` through the steps, as f32 [channels, height, width] in [0, 1] or
/// normalised, and the labels of `labels`. Draws from (seed, epoch, sample) alone. `dataset` must
/// outlive the result.
/// errors  invalid_argument when the set is not one of images, when sizes do not fit (naming the
///         step), and for moments that do not fit; reading throws DataError also for an image that
///         is too small for a crop
std::unique_ptr<Samples> augmented_samples(const Dataset& dataset, std::unique_ptr<Samples> labels,
                                           AugmentOptions options);

}    // namespace slipway
