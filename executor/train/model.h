#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/spec/job_spec.h"
#include "executor/checkpoint/checkpoint.h"
#include "executor/nn/forward_pass.h"
#include "executor/nn/init.h"

namespace slipway {

/// A network ready to train: its parameters with their initial values, and what it computes.
struct Model {
    ParameterList parameters;
    std::string head;      ///< name of its last layer: "fc" of "fc.weight"; empty: it has none
    std::string base;      ///< what every name outside of its head begins with, and files of the
                           ///< network without one leave out: "transformer"; empty: nothing
    double dropout = 0;    ///< share that a training pass drops
    std::string warning = {};    ///< of an imported network that trains otherwise than its module
    std::vector<CheckpointFile> files = {};    ///< that each checkpoint of it has: its graph
    /// features f32 [n, …] -> f32 [n, outputs]: a logit for each class or label, or for regression
    /// each label itself. Or tokens i32 [n, s] -> logits of each position (of the pass's, if there
    /// are) f32 [n, s, vocabulary]. Traces nodes, runs nothing.
    std::function<Tensor(const Tensor&, ForwardPass&)> forward;
};

/// A network whose layers need no ForwardPass, as Model::forward.
template <class Network>
auto without_pass(Network network) {
    return [network = std::move(network)](const Tensor& x, ForwardPass&) { return network(x); };
}

/// Where an imported network is read from.
///   file or folder  that of torch.export, with its values; or a checkpoint's, without
using NetworkSource = std::filesystem::path;

/// What else is known of the samples.
struct SampleDetails {
    /// The token that fills samples of a text up, if any are.
    std::optional<std::int64_t> padding = {};
    /// Of a table's columns; empty: they have none.
    std::span<const std::string> column_names = {};
};

/// Builds the network of a job for samples of this shape (without the batch dimension), its initial
/// values from `init`.
///   source   of model.arch imported; others do not read it
///   labels   classes, or labels that are numbers, that the dataset has; of a language model the
///            tokenizer's tokens
/// errors  TrainError spec_error when the samples or labels do not fit the network
Model build_model(const JobSpec& spec, const Dims& sample_dims, std::int64_t labels, Init init,
                  const SampleDetails& details = {}, const NetworkSource& source = {});

}    // namespace slipway
