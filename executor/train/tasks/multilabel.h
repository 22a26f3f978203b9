#pragma once

#include "executor/train/task.h"

namespace slipway {

/// Each label there or not, by itself: binary cross-entropy of the logits [n, labels] and labels
/// f32 [n, labels], the mean over all of them. Metrics: loss; accuracy, the share of labels that
/// are right at a chance of 0.5; of an evaluation auc, the mean of the labels' areas under the ROC
/// curve, and auc_NAME of each of up to 64 labels. Details: labels [{"name", "auc"}]; a label that
/// all samples of the validation have, or none, has no area: null, and it is left out of the mean.
Task multilabel(const JobSpec& spec, const std::vector<std::string>& names);

}    // namespace slipway
