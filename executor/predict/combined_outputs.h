#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "api/spec/job_spec.h"

namespace slipway {

/// What one network says of one sample: a logit of each class or label, or each value itself.
using OutputRow = std::span<const float>;

/// What several networks say of one sample together, of each output.
struct CombinedOutputs {
    /// Mean over the networks of the probability of a class (softmax) or label (sigmoid), or of the
    /// value (regression). Not finite where one of theirs is not.
    std::vector<double> mean;
    /// Standard deviation of the same over the networks, n - 1 in the denominator; 0 of one
    /// network.
    std::vector<double> deviation;
};

/// `rows`: one for each network, of equal lengths; at least one. In double, in the order of the
/// rows. `task` is classification, multilabel or regression.
CombinedOutputs combine(TaskType task, std::span<const OutputRow> rows);

/// What a single network would have to say for the task to take it for the mean: `combined` gets
/// log of the mean probability of each class, the log-odds of the mean probability of each label,
/// or the mean value. Calculated from logarithms, so that a small probability does not become 0.
void combine_logits(TaskType task, std::span<const OutputRow> rows, std::span<float> combined);

}    // namespace slipway
