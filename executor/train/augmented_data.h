#pragma once

#include "executor/train/train_data.h"

namespace slipway {

/// The plan's images, through the steps of data.augment: training draws, evaluation does not.
/// Where a step brings images to a size, they are not brought to another before; normalisation
/// comes after the steps. `options` are the dataset's, with what the job overrides.
/// errors  invalid_argument when the set is not one of images or sizes do not fit, naming the step;
///         as open_dataset
TrainData open_augmented_data(const AttemptPlan& plan, DatasetOptions options);

/// The steps of data.augment that change one image each.
std::vector<AugmentSpec> image_steps(const JobSpec& spec);

/// Lets the job's mixup and cutmix, if it has them, mix the training samples: their labels become
/// shares of classes. Call when the samples and the classes are there.
/// errors  invalid_argument when there is cutmix and no image
void mix_training_samples(const JobSpec& spec, TrainData& data);

}    // namespace slipway
