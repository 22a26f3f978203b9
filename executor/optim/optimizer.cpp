#include "executor/optim/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/base/error.h"

namespace slipway {

namespace {

Tensor decayed(const HyperLeaf& hyper, const Tensor& parameter, const Tensor& gradient) {
    return gradient + hyper.scalar(HyperSlot::weight_decay) * parameter;
}

Update sgd(const HyperLeaf& hyper, const Tensor& parameter, const Tensor& gradient,
           std::span<const Tensor>) {
    const Tensor g = decayed(hyper, parameter, gradient);
    return {parameter - hyper.scalar(HyperSlot::lr) * g, {}};
}

Update sgd_momentum(const HyperLeaf& hyper, const Tensor& parameter, const Tensor& gradient,
                    std::span<const Tensor> slots) {
    const Tensor g = decayed(hyper, parameter, gradient);
    const Tensor velocity = hyper.scalar(HyperSlot::momentum) * slots[0] + g;
    return {parameter - hyper.scalar(HyperSlot::lr) * velocity, {velocity}};
}

Update sgd_nesterov(const HyperLeaf& hyper, const Tensor& parameter, const Tensor& gradient,
                    std::span<const Tensor> slots) {
    const Tensor g = decayed(hyper, parameter, gradient);
    const Tensor momentum = hyper.scalar(HyperSlot::momentum);
    const Tensor velocity = momentum * slots[0] + g;
    return {parameter - hyper.scalar(HyperSlot::lr) * (g + momentum * velocity), {velocity}};
}

/// Kingma and Ba 2015: the step without decay of weights.
Update plain_adam(const HyperLeaf& hyper, const Tensor& parameter, const Tensor& g,
                  std::span<const Tensor> slots) {
    const Tensor average =
        hyper.scalar(HyperSlot::beta1) * slots[0] + hyper.scalar(HyperSlot::one_minus_beta1) * g;
    const Tensor average_square = hyper.scalar(HyperSlot::beta2) * slots[1] +
                                  hyper.scalar(HyperSlot::one_minus_beta2) * (g * g);
    const Tensor denominator = sqrt(average_square) * hyper.scalar(HyperSlot::inverse_sqrt_bias2) +
                               hyper.scalar(HyperSlot::eps);
    return {parameter - hyper.scalar(HyperSlot::step_size) * (average / denominator),
            {average, average_square}};
}

/// As torch.optim.Adam: weight decay is added to the gradient.
Update adam(const HyperLeaf& hyper, const Tensor& parameter, const Tensor& gradient,
            std::span<const Tensor> slots) {
    return plain_adam(hyper, parameter, decayed(hyper, parameter, gradient), slots);
}

/// Loshchilov and Hutter 2019, as torch.optim.AdamW: the weights shrink by themselves, before the
/// step.
Update adamw(const HyperLeaf& hyper, const Tensor& parameter, const Tensor& gradient,
             std::span<const Tensor> slots) {
    return plain_adam(hyper, hyper.scalar(HyperSlot::decay_factor) * parameter, gradient, slots);
}

}    // namespace

std::span<const Optimizer> optimizers() {
    static const std::array rows{
        Optimizer{"sgd", {}, sgd},
        Optimizer{"sgd_momentum", {"momentum_buffer"}, sgd_momentum},
        Optimizer{"sgd_nesterov", {"momentum_buffer"}, sgd_nesterov},
        Optimizer{"adam", {"exp_avg", "exp_avg_sq"}, adam},
        Optimizer{"adamw", {"exp_avg", "exp_avg_sq"}, adamw},
    };
    return rows;
}

const Optimizer& find_optimizer(std::string_view name) {
    const auto rows = optimizers();
    const auto row = std::ranges::find(rows, name, &Optimizer::name);
    if (row == rows.end()) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("there is no optimizer named {}", name));
    }
    return *row;
}

OptimizerStep trace_optimizer(const Optimizer& optimizer, const HyperLeaf& hyper,
                              std::span<const Tensor> parameters,
                              std::span<const Tensor> gradients) {
    OptimizerStep step{.leaves = {parameters.begin(), parameters.end()}, .outputs = {}};
    std::vector<Tensor> new_slots;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        std::vector<Tensor> slots;
        for (const std::string_view slot : optimizer.slots)
            slots.push_back(leaf(parameters[i].shape(), Placement::replicated, std::string(slot)));
        const bool is_share = gradients[i].node().placement == Placement::per_core;
        const Tensor gradient = is_share ? all_reduce(gradients[i]) : gradients[i];
        const Update update = optimizer.update(hyper, parameters[i], gradient, slots);
        step.outputs.push_back(update.parameter);
        new_slots.insert(new_slots.end(), update.slots.begin(), update.slots.end());
        step.leaves.insert(step.leaves.end(), slots.begin(), slots.end());
    }
    step.outputs.insert(step.outputs.end(), new_slots.begin(), new_slots.end());
    return step;
}

}    // namespace slipway
