#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "executor/bench/inputs.h"
#include "executor/nn/forward_pass.h"
#include "executor/nn/init.h"
#include "executor/nn/parameter.h"

namespace slipway {

/// What a network says about one core's batch: the sum of the losses, and how many of them the
/// whole batch has.
struct BenchLoss {
    Tensor sum;
    double count = 1;
};

/// Traces a forward pass to the loss; makes its input.
using BenchForward = std::function<BenchLoss(BenchInputs& inputs, ForwardPass& pass)>;

/// One network in training, as everybody measures it: bench/torch_workloads.py has the same.
struct Workload {
    std::string_view name;
    std::string_view about;
    std::int64_t batch;    ///< samples of one step unless told otherwise
    double dropout_rate;
    BenchForward (*create)(ParameterList& parameters, Init& init);
    /// The network of a job of one core, whose batch norms take the statistics of all parts; null:
    /// no other one.
    BenchForward (*create_for_one_core)(ParameterList& parameters, Init& init) = nullptr;
};

std::span<const Workload> workloads();

/// errors  invalid_argument when there is none of this name (says which there are)
const Workload& find_workload(std::string_view name);

}    // namespace slipway
