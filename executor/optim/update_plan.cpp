#include "executor/optim/update_plan.h"

#include <string>

namespace slipway {

namespace {

/// The new value and the new state of one parameter.
Update updated(const UpdatePlan& plan, const UpdateNumbers& numbers, const Tensor& parameter,
               const Tensor& gradient, std::span<const Tensor> state) {
    const std::size_t own = plan.optimizer->state.size();
    Update update = plan.optimizer->update(numbers, parameter, gradient, state.first(own));
    if (plan.averages) {
        update.state.push_back(numbers[HyperSlot::ema_decay] * state[own] +
                               numbers[HyperSlot::one_minus_ema_decay] * update.parameter);
    }
    return update;
}

}    // namespace

std::vector<std::string_view> UpdatePlan::state_names() const {
    std::vector<std::string_view> names = optimizer->state;
    if (averages) names.push_back(average_state);
    return names;
}

OptimizerStep trace_optimizer(const UpdatePlan& plan, const HyperInput& hyper,
                              const std::vector<Tensor>& parameters,
                              std::span<const Tensor> gradients) {
    OptimizerStep step;
    std::vector<Tensor> sums;
    for (const Tensor& gradient : gradients)
        sums.push_back(sum_of_shares(gradient, plan.exchange));
    if (plan.clips) {
        ClippedGradients clipped =
            clip_by_global_norm(std::move(sums), hyper.scalar(HyperSlot::clip_norm));
        sums = std::move(clipped.gradients);
        step.gradient_norm = std::move(clipped.norm);
    }
    step.inputs = plan.chosen(parameters, true);
    check(step.inputs.size() == sums.size(), "each trained parameter has a gradient");
    std::vector<Tensor> new_state, state_inputs;
    std::size_t trained = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const ParameterRule rule = plan.rule(i);
        if (!rule.trained) continue;
        std::vector<Tensor> state;
        for (const std::string_view name : plan.state_names())
            state.push_back(input(parameters[i].shape(), Placement::replicated, std::string(name)));
        const Update update = updated(plan, {hyper, rule}, parameters[i], sums[trained++], state);
        step.outputs.push_back(update.parameter);
        state_inputs.insert(state_inputs.end(), state.begin(), state.end());
        new_state.insert(new_state.end(), update.state.begin(), update.state.end());
    }
    step.inputs.insert(step.inputs.end(), state_inputs.begin(), state_inputs.end());
    step.outputs.insert(step.outputs.end(), new_state.begin(), new_state.end());
    return step;
}

}    // namespace slipway
