#include "executor/optim/update_plan.h"

#include <string>

namespace slipway {

namespace {

/// The new value and all new slots of one parameter.
Update updated(const UpdatePlan& plan, const UpdateNumbers& numbers, const Tensor& parameter,
               const Tensor& gradient, std::span<const Tensor> slots) {
    const std::size_t own = plan.optimizer->slots.size();
    Update update = plan.optimizer->update(numbers, parameter, gradient, slots.first(own));
    if (plan.averages) {
        update.slots.push_back(numbers[HyperSlot::ema_decay] * slots[own] +
                               numbers[HyperSlot::one_minus_ema_decay] * update.parameter);
    }
    return update;
}

}    // namespace

std::vector<std::string_view> UpdatePlan::slots() const {
    std::vector<std::string_view> names = optimizer->slots;
    if (averages) names.push_back(average_slot);
    return names;
}

OptimizerStep trace_optimizer(const UpdatePlan& plan, const HyperLeaf& hyper,
                              const std::vector<Tensor>& parameters,
                              std::span<const Tensor> gradients) {
    OptimizerStep step;
    std::vector<Tensor> sums;
    for (const Tensor& gradient : gradients)
        sums.push_back(sum_of_shares(gradient));
    if (plan.clips) {
        ClippedGradients clipped =
            clip_by_global_norm(std::move(sums), hyper.scalar(HyperSlot::clip_norm));
        sums = std::move(clipped.gradients);
        step.gradient_norm = std::move(clipped.norm);
    }
    step.leaves = plan.chosen(parameters, true);
    check(step.leaves.size() == sums.size(), "each trained parameter has a gradient");
    std::vector<Tensor> new_slots, slot_leaves;
    std::size_t trained = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const ParameterRule rule = plan.rule(i);
        if (!rule.trained) continue;
        std::vector<Tensor> slots;
        for (const std::string_view slot : plan.slots())
            slots.push_back(leaf(parameters[i].shape(), Placement::replicated, std::string(slot)));
        const Update update = updated(plan, {hyper, rule}, parameters[i], sums[trained++], slots);
        step.outputs.push_back(update.parameter);
        slot_leaves.insert(slot_leaves.end(), slots.begin(), slots.end());
        new_slots.insert(new_slots.end(), update.slots.begin(), update.slots.end());
    }
    step.leaves.insert(step.leaves.end(), slot_leaves.begin(), slot_leaves.end());
    step.outputs.insert(step.outputs.end(), new_slots.begin(), new_slots.end());
    return step;
}

}    // namespace slipway
