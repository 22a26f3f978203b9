#pragma once

#include "executor/train/task.h"

namespace slipway {

/// One class of several for each sample: cross-entropy of the logits [n, classes] and labels i32
/// [n], smoothed in training as the spec says; of mixed samples labels are shares f32 [n, classes],
/// and what is counted right is the class with the largest. Metrics: loss; accuracy and
/// top5_accuracy where the spec asks for them. Details: confusion_matrix {"classes": [name…],
/// "counts": [[…]…]}, a row for each class that samples have, a column for each that they are taken
/// for. errors  tracing throws TrainError spec_error for a matrix of more than 1000 classes
Task classification(const JobSpec& spec, const std::vector<std::string>& names);

}    // namespace slipway
