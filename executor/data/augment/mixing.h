#pragma once

#include <cstdint>
#include <vector>

#include "api/spec/augment_spec.h"
#include "executor/data/formats/resize.h"
#include "executor/data/samples.h"

/// Mixing samples with one another, features and labels alike, as torchvision's MixUp (Zhang and
/// others 2017) and CutMix (Yun and others 2019): each takes a share of the sample before it in its
/// step, the first of the last. One share is drawn for a whole step, from (seed, epoch, step)
/// alone: neither cores nor threads nor how a step is cut into batches change a number.
namespace slipway {

/// With both mixup and cutmix each step draws which of them it does.
struct Mixing {
    std::vector<AugmentSpec> steps = {};    ///< mixes_samples; empty: nothing is mixed
    std::uint64_t seed = 0;
};

/// Which step of training it is.
struct StepPlace {
    std::int64_t epoch = 0;
    std::int64_t step = 0;    ///< of the epoch
};

/// What is drawn for a step.
struct Mix {
    double own_share = 1;    ///< of each label, and with mixup of each feature
    bool cuts = false;       ///< cutmix: the pixels of `box` are the other's, the rest its own
    Box box = {};            ///< empty where the cut misses the image: own_share is 1
};

/// errors  none: the features of cutmix are images {channels, height, width}
Mix draw_mix(const Mixing& mixing, const StepPlace& place, const Dims& feature_dims);

/// The box that a share and the middle of a box make, cut off at the image's borders; own_share
/// becomes what is left outside of it. `row` and `column` are within the image.
Mix cut_around(std::int64_t row, std::int64_t column, double own_share, const Dims& feature_dims);

/// Mixes `other` into `own`; all of them f32, `other` as it was before it was mixed itself.
void mix_into(const SampleRow& own, const SampleRow& other, const Mix& mix,
              const Dims& feature_dims);

}    // namespace slipway
