#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "executor/optim/hyper.h"

namespace slipway {

/// What one parameter's update gives: its new value and its new slots, in the optimizer's order.
struct Update {
    Tensor parameter;
    std::vector<Tensor> slots;
};

/// One optimizer as a row: the state it keeps for each parameter (zeros at first, of the
/// parameter's shape) and its rule. The rules are torch's, so that results can be compared step by
/// step.
struct Optimizer {
    std::string_view name;
    std::vector<std::string_view> slots;
    Update (*update)(const HyperLeaf& hyper, const Tensor& parameter, const Tensor& gradient,
                     std::span<const Tensor> slots);
};

/// sgd, sgd_momentum, sgd_nesterov, adam, adamw. What changes the program is a row; what is only a
/// number is in Hyper.
std::span<const Optimizer> optimizers();

/// errors  invalid_argument when no row has this name
const Optimizer& find_optimizer(std::string_view name);

/// All parameters' updates in one step of a graph.
///   leaves   parameters…, slots… (parameter by parameter)
///   outputs  their new values, in the same order: each may be donated to the leaf of its position
struct OptimizerStep {
    std::vector<Tensor> leaves, outputs;
};

/// `gradients` are each core's share: they are summed over the cores here.
OptimizerStep trace_optimizer(const Optimizer& optimizer, const HyperLeaf& hyper,
                              std::span<const Tensor> parameters,
                              std::span<const Tensor> gradients);

}    // namespace slipway
