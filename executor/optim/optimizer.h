#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "executor/optim/hyper.h"

namespace slipway {

/// How one parameter differs from the others in more than numbers: part of the program.
struct ParameterRule {
    bool trained = true;      ///< false: frozen; no gradient, no state, no decay
    bool decays = true;       ///< false: no weight decay, and with lamb no trust ratio
    std::size_t group = 0;    ///< whose learning rate it has: see Hyper::lr_scales
    bool operator==(const ParameterRule&) const = default;
};

/// The numbers that one parameter is updated by, as scalars of the graph.
struct UpdateNumbers {
    const HyperInput& hyper;
    ParameterRule rule;

    Tensor operator[](HyperSlot slot) const { return hyper.scalar(slot, rule.group); }
};

/// What one parameter's update gives: its new value and its new state, in the optimizer's order.
struct Update {
    Tensor parameter;
    std::vector<Tensor> state;
};

/// One optimizer as a row: the state it keeps for each parameter (zeros at first, of the
/// parameter's shape) and its rule. The rules are torch's, so that results can be compared step by
/// step; lamb, which torch has not, is You et al. 2020 with bias correction, as NVIDIA's apex: the
/// step of adamw, scaled for each parameter by its norm over the step's.
struct Optimizer {
    std::string_view name;
    std::vector<std::string_view> state;
    Update (*update)(const UpdateNumbers& numbers, const Tensor& parameter, const Tensor& gradient,
                     std::span<const Tensor> state);
};

/// sgd, sgd_momentum, sgd_nesterov, adam, adamw, lamb. What changes the program is a row or a
/// rule; what is only a number is in Hyper.
std::span<const Optimizer> optimizers();

/// errors  invalid_argument when no row has this name
const Optimizer& find_optimizer(std::string_view name);

}    // namespace slipway
