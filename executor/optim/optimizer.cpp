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

/// Kingma and Ba 2015, as torch.optim.Adam: weight decay is added to the gradient.
Update adam(const HyperLeaf& hyper, const Tensor& parameter, const Tensor& gradient,
            std::span<const Tensor> slots) {
    const Tensor g = decayed(hyper, parameter, gradient);
    const Tensor average =
        hyper.scalar(HyperSlot::beta1) * slots[0] + hyper.scalar(HyperSlot::one_minus_beta1) * g;
    const Tensor average_square = hyper.scalar(HyperSlot::beta2) * slots[1] +
                                  hyper.scalar(HyperSlot::one_minus_beta2) * (g * g);
    const Tensor denominator = sqrt(average_square) * hyper.scalar(HyperSlot::inverse_sqrt_bias2) +
                               hyper.scalar(HyperSlot::eps);
    return {parameter - hyper.scalar(HyperSlot::step_size) * (average / denominator),
            {average, average_square}};
}

}    // namespace

std::span<const Optimizer> optimizers() {
    static const std::array rows{
        Optimizer{"sgd", {}, sgd},
        Optimizer{"sgd_momentum", {"momentum_buffer"}, sgd_momentum},
        Optimizer{"sgd_nesterov", {"momentum_buffer"}, sgd_nesterov},
        Optimizer{"adam", {"exp_avg", "exp_avg_sq"}, adam},
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

}    // namespace slipway
