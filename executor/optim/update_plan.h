#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "executor/optim/optimizer.h"

namespace slipway {

/// How the parameters of one job are updated, as far as it is part of the program.
struct UpdatePlan {
    /// Every parameter is trained, decays and has the one learning rate.
    // NOLINTNEXTLINE(google-explicit-constructor): an optimizer alone is a whole plan
    UpdatePlan(const Optimizer& the_optimizer) : optimizer(&the_optimizer) {}

    const Optimizer* optimizer;          ///< a row of optimizers(): lives for ever
    std::vector<ParameterRule> rules;    ///< one per parameter; empty: all of them the standard one
    std::size_t groups = 1;              ///< 1 more than Hyper::lr_scales has
    bool clips = false;                  ///< by Hyper::clip_norm
    bool averages = false;               ///< keeps a moving average of each trained parameter
    std::optional<DType> exchange;       ///< of gradients, as in AllReduceAttributes

    ParameterRule rule(std::size_t parameter) const {
        return rules.empty() ? ParameterRule{} : rules[parameter];
    }
    /// Those of a list with an element per parameter that are trained, or those that are frozen.
    template <class List>
    List chosen(const List& of_all, bool trained) const;

    /// What is kept for each trained parameter: the optimizer's state, then the average.
    std::vector<std::string_view> state_names() const;
};

/// The state that begins as the parameter's value and follows it:
/// decay * average + (1 - decay) * parameter, after each step.
inline constexpr std::string_view average_state = "ema";

/// All trained parameters' updates in one step of a graph.
///   inputs   parameters…, state… (parameter by parameter)
///   outputs  their new values, in the same order: each may be donated to the input of its position
struct OptimizerStep {
    std::vector<Tensor> inputs, outputs;
    /// f32 scalar: the norm of all gradients together before they were clipped; empty when the
    /// plan does not clip.
    Tensor gradient_norm;
};

/// `parameters` are all of them, `gradients` those of the trained ones: each core's share, summed
/// over the cores here. Clipping is torch's clip_grad_norm_: all gradients times
/// clip_norm / (norm + 1e-6) when that is below 1.
OptimizerStep trace_optimizer(const UpdatePlan& plan, const HyperInput& hyper,
                              const std::vector<Tensor>& parameters,
                              std::span<const Tensor> gradients);

template <class List>
List UpdatePlan::chosen(const List& of_all, bool trained) const {
    List result;
    for (std::size_t i = 0; i < of_all.size(); ++i)
        if (rule(i).trained == trained) result.push_back(of_all[i]);
    return result;
}

}    // namespace slipway
