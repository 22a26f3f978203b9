#pragma once

#include <functional>
#include <utility>

#include "api/spec/job_spec.h"
#include "executor/nn/forward_pass.h"
#include "executor/nn/init.h"

namespace slipway {

/// A network ready to train: its parameters with their initial values, and what it computes.
struct Model {
    ParameterList parameters;
    std::string head;    ///< name of its last layer: "fc" of "fc.weight"
    /// features f32 [n, …] -> logits f32 [n, classes]; traces nodes, runs nothing.
    std::function<Tensor(const Tensor&, ForwardPass&)> forward;
};

/// A network whose layers need no ForwardPass, as Model::forward.
template <class Network>
auto without_pass(Network network) {
    return [network = std::move(network)](const Tensor& x, ForwardPass&) { return network(x); };
}

/// Builds the network of a job for samples of this shape (without the batch dimension), its initial
/// values from `init`.
/// errors  TrainError spec_error when the samples do not fit the network
Model build_model(const JobSpec& spec, const Dims& sample_dims, std::int64_t classes, Init init);

}    // namespace slipway
