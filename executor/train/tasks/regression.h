#pragma once

#include "executor/train/task.h"

namespace slipway {

/// Numbers for each sample: mean squared error of the outputs [n, labels] and labels f32
/// [n, labels], over all of them. Metrics: loss; mae, the mean absolute error; of an evaluation r2,
/// the mean over the labels of 1 - (squared errors) / (squared distances of the labels from their
/// mean). Details: labels [{"name", "mse", "r2"}]; a label that never varies has no r2: null, and
/// it is left out of the mean.
Task regression(const JobSpec& spec, const std::vector<std::string>& names);

}    // namespace slipway
