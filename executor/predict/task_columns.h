#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "executor/predict/combined_outputs.h"
#include "executor/train/task.h"

namespace slipway {

/// What a row says of a sample's prediction, by task.
///   classification  predicted (the name of the likeliest class), predicted_index, p_NAME of each
///                   class: the shares of a softmax
///   multilabel      p_NAME of each label: the chance that it is there
///   regression      predicted_NAME of each label
/// Of several networks these are of their means, and beside them:
///   classification  std_predicted: the standard deviation of the predicted class's probability
///   multilabel, regression  std_NAME: that of each label's probability or value
/// The others are for one network alone.
///   masked_lm, causal_lm  tokens (those that count), loss (their mean), perplexity, accuracy
struct TaskColumns {
    /// What the network says of one core's batch: f32 [n, width].
    std::function<Tensor(const Model&, const BatchInputs&, ForwardPass&)> trace;
    std::vector<std::string> names;
    /// Appends ",…" for a sample: its `width` numbers from each network, and its labels as Samples
    /// has them.
    std::function<void(std::string& csv, std::span<const OutputRow> rows,
                       std::span<const std::byte> labels)>
        append;
};

/// `names` of the classes or labels that the network was trained with; outputs beyond them are
/// called by their numbers.
///   is_ensemble  there are several networks
TaskColumns task_columns(const JobSpec& spec, const std::vector<std::string>& names,
                         bool is_ensemble);

}    // namespace slipway
