#pragma once

#include <functional>

#include "api/spec/job_spec.h"
#include "executor/nn/parameter.h"

namespace slipway {

/// A network ready to train: its parameters with their initial values, and what it computes.
struct Model {
    ParameterList parameters;
    /// features f32 [n, …] -> logits f32 [n, classes]; traces nodes, runs nothing.
    std::function<Tensor(const Tensor&)> forward;
};

/// Builds the network of a job for samples of this shape (without the batch dimension).
/// errors  TrainError spec_error when the samples do not fit the network
Model build_model(const JobSpec& spec, const Dims& sample_dims, std::int64_t classes);

}    // namespace slipway
