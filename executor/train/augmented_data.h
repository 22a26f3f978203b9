#pragma once

#include "executor/train/train_data.h"

namespace slipway {

/// The plan's images, through the steps of data.augment: training draws, evaluation does not.
/// Where a step brings images to a size, they are not brought to another before; normalisation
/// comes after the steps. `options` are the data set's, with what the job overrides.
/// errors  invalid_argument when the set is not one of images or sizes do not fit, naming the step;
///         as open_dataset
TrainData open_augmented_data(const AttemptPlan& plan, DatasetOptions options);

}    // namespace slipway
