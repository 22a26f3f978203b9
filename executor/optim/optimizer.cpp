// An optimizer is a function from (numbers, parameter, gradient, state) to nodes: its update is
// traced into the step's graph like everything else, so fusion makes a kernel of it and the runtime
// knows no optimizers. The rules are torch's: tests compare 20 steps with torch in float64
// (tests/executor/optim).
//
// What the functions keep: a number that a user may change between jobs (rate, decay, momentum, …)
// is a scalar of the graph, never a constant in it, so a search over numbers compiles once;
// corrections that depend on the step come computed in double from hyper.h. What changes the graph
// (momentum or none, nesterov) is a row of its own.

#include "executor/optim/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "api/base/error.h"

namespace slipway {

namespace {

Tensor decayed(const UpdateNumbers& numbers, const Tensor& parameter, const Tensor& gradient) {
    return numbers.rule.decays ? gradient + numbers[HyperSlot::weight_decay] * parameter : gradient;
}

Update sgd(const UpdateNumbers& numbers, const Tensor& parameter, const Tensor& gradient,
           std::span<const Tensor>) {
    const Tensor g = decayed(numbers, parameter, gradient);
    return {parameter - numbers[HyperSlot::lr] * g, {}};
}

Update sgd_momentum(const UpdateNumbers& numbers, const Tensor& parameter, const Tensor& gradient,
                    std::span<const Tensor> state) {
    const Tensor g = decayed(numbers, parameter, gradient);
    const Tensor velocity = numbers[HyperSlot::momentum] * state[0] + g;
    return {parameter - numbers[HyperSlot::lr] * velocity, {velocity}};
}

Update sgd_nesterov(const UpdateNumbers& numbers, const Tensor& parameter, const Tensor& gradient,
                    std::span<const Tensor> state) {
    const Tensor g = decayed(numbers, parameter, gradient);
    const Tensor velocity = numbers[HyperSlot::momentum] * state[0] + g;
    return {parameter - numbers[HyperSlot::lr] * (g + numbers[HyperSlot::momentum] * velocity),
            {velocity}};
}

/// Kingma and Ba 2015: running means of the gradient and of its square.
struct Moments {
    Tensor average, average_square;

    Moments(const UpdateNumbers& numbers, const Tensor& g, std::span<const Tensor> state)
        : average(numbers[HyperSlot::beta1] * state[0] + numbers[HyperSlot::one_minus_beta1] * g),
          average_square(numbers[HyperSlot::beta2] * state[1] +
                         numbers[HyperSlot::one_minus_beta2] * (g * g)) {}

    Tensor denominator(const UpdateNumbers& numbers) const {
        return sqrt(average_square) * numbers[HyperSlot::inverse_sqrt_bias2] +
               numbers[HyperSlot::eps];
    }
    /// `parameter` after the step without decay of weights.
    Update step(const UpdateNumbers& numbers, const Tensor& parameter) const {
        return {parameter - numbers[HyperSlot::step_size] * (average / denominator(numbers)),
                {average, average_square}};
    }
};

/// As torch.optim.Adam: weight decay is added to the gradient.
Update adam(const UpdateNumbers& numbers, const Tensor& parameter, const Tensor& gradient,
            std::span<const Tensor> state) {
    const Moments moments(numbers, decayed(numbers, parameter, gradient), state);
    return moments.step(numbers, parameter);
}

/// Loshchilov and Hutter 2019, as torch.optim.AdamW: the weights shrink by themselves, before the
/// step.
Update adamw(const UpdateNumbers& numbers, const Tensor& parameter, const Tensor& gradient,
             std::span<const Tensor> state) {
    const Moments moments(numbers, gradient, state);
    return moments.step(
        numbers, numbers.rule.decays ? numbers[HyperSlot::decay_factor] * parameter : parameter);
}

Tensor norm(const Tensor& x) {
    Dims all(x.dims().size());
    std::iota(all.begin(), all.end(), 0);
    return sqrt(reduce(x * x, all, Reduction::add));
}

/// ||parameter|| / ||step||, and 1 where one of them is 0.
Tensor trust_ratio(const Tensor& parameter, const Tensor& step) {
    const Tensor zero = constant(0), above = norm(parameter), below = norm(step);
    const Tensor both =
        logical_and(compare(above, zero, Comparison::gt), compare(below, zero, Comparison::gt));
    return select(both, above / below, constant(1));
}

/// You et al. 2020, algorithm 2 with phi(z) = z; a parameter that does not decay has no trust
/// ratio either, as in the authors' program and in apex.
Update lamb(const UpdateNumbers& numbers, const Tensor& parameter, const Tensor& gradient,
            std::span<const Tensor> state) {
    const Moments moments(numbers, gradient, state);
    if (!numbers.rule.decays) return moments.step(numbers, parameter);
    const Tensor step =
        moments.average * numbers[HyperSlot::inverse_bias1] / moments.denominator(numbers) +
        numbers[HyperSlot::weight_decay] * parameter;
    return {parameter - numbers[HyperSlot::lr] * trust_ratio(parameter, step) * step,
            {moments.average, moments.average_square}};
}

}    // namespace

std::span<const Optimizer> optimizers() {
    static const std::array rows{
        Optimizer{"sgd", {}, sgd},
        Optimizer{"sgd_momentum", {"momentum_buffer"}, sgd_momentum},
        Optimizer{"sgd_nesterov", {"momentum_buffer"}, sgd_nesterov},
        Optimizer{"adam", {"exp_avg", "exp_avg_sq"}, adam},
        Optimizer{"adamw", {"exp_avg", "exp_avg_sq"}, adamw},
        Optimizer{"lamb", {"exp_avg", "exp_avg_sq"}, lamb},
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
