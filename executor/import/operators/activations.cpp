#include <array>
#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

Tensor operand(const Call& call) {
    return as_floating(call.tensor(call.has("self") ? "self" : "input"));
}

/// x limited to [low, high].
Tensor limited(const Tensor& x, double low, double high) {
    return clamp(number_like(x, low), x, number_like(x, high));
}

/// max(0, min(1, x / 6 + 1 / 2)).
Tensor hard_sigmoid(const Tensor& x) {
    return limited(x + number_like(x, 3), 0, 6) * number_like(x, 1.0 / 6);
}

/// log(1 + e^x), of which no power overflows.
Tensor softplus_of(const Tensor& x) {
    return relu(x) + log_plus_one(exponential(negate(abs(x))));
}

Value lower_relu(const Call& call) {
    return {relu(operand(call))};
}
Value lower_gelu(const Call& call) {
    return {gelu(operand(call), call.text("approximate", "none") == "tanh")};
}
Value lower_sigmoid(const Call& call) {
    return {logistic(operand(call))};
}
Value lower_log_sigmoid(const Call& call) {
    return {negate(softplus_of(negate(operand(call))))};
}
Value lower_tanh(const Call& call) {
    return {tanh(operand(call))};
}
Value lower_silu(const Call& call) {
    const Tensor x = operand(call);
    return {x * logistic(x)};
}
Value lower_hardsigmoid(const Call& call) {
    return {hard_sigmoid(operand(call))};
}
Value lower_hardswish(const Call& call) {
    const Tensor x = operand(call);
    return {x * hard_sigmoid(x)};
}
Value lower_hardtanh(const Call& call) {
    return {limited(operand(call), call.number("min_val", -1), call.number("max_val", 1))};
}
Value lower_relu6(const Call& call) {
    return {limited(operand(call), 0, 6)};
}
Value lower_leaky_relu(const Call& call) {
    const Tensor x = operand(call);
    return {select(compare(x, number_like(x, 0), Comparison::gt), x,
                   x * number_like(x, call.number("negative_slope", 0.01)))};
}
Value lower_prelu(const Call& call) {
    const Tensor x = operand(call), weight = call.tensor("weight");
    const Tensor slope = weight.shape().element_count() == 1
                             ? broadcast(reshape(weight, {}), x.dims())
                             : broadcast_in_dim(weight, x.dims(), {1});
    return {select(compare(x, number_like(x, 0), Comparison::gt), x, x * slope)};
}
Value lower_elu(const Call& call) {
    const Tensor x = operand(call);
    const double alpha = call.number("alpha", 1), scale = call.number("scale", 1),
                 input_scale = call.number("input_scale", 1);
    // Where x is positive the other branch is of 0: it has no infinity to be multiplied with.
    const Tensor low = minimum(x, broadcast(number_like(x, 0), x.dims()));
    const Tensor negative =
        exponential_minus_one(low * number_like(x, input_scale)) * number_like(x, alpha * scale);
    return {
        select(compare(x, number_like(x, 0), Comparison::gt), x * number_like(x, scale), negative)};
}
Value lower_celu(const Call& call) {
    const Tensor x = operand(call);
    const double alpha = call.number("alpha", 1);
    const Tensor low = minimum(x, broadcast(number_like(x, 0), x.dims()));
    return {relu(x) +
            exponential_minus_one(low * number_like(x, 1 / alpha)) * number_like(x, alpha)};
}
Value lower_selu(const Call& call) {
    constexpr double alpha = 1.6732632423543772848170429916717,
                     scale = 1.0507009873554804934193349852946;
    const Tensor x = operand(call);
    const Tensor low = minimum(x, broadcast(number_like(x, 0), x.dims()));
    return {select(compare(x, number_like(x, 0), Comparison::gt), x * number_like(x, scale),
                   exponential_minus_one(low) * number_like(x, alpha * scale))};
}
Value lower_softplus(const Call& call) {
    const Tensor x = operand(call);
    const double beta = call.number("beta", 1), threshold = call.number("threshold", 20);
    const Tensor scaled = x * number_like(x, beta);
    return {select(compare(scaled, number_like(x, threshold), Comparison::gt), x,
                   softplus_of(scaled) * number_like(x, 1 / beta))};
}
Value lower_mish(const Call& call) {
    const Tensor x = operand(call);
    return {x * tanh(softplus_of(x))};
}
Value lower_glu(const Call& call) {
    const Tensor x = operand(call);
    const std::int64_t dimension = call.dimension("dim", x.shape().rank(), -1);
    const std::int64_t half = x.dims().at(std::size_t(dimension)) / 2;
    return {part(x, dimension, 0, half) * logistic(part(x, dimension, half, 2 * half))};
}

/// A function of the last axis along any other one.
template <class Function>
Value along(const Call& call, Function function) {
    const Tensor x = operand(call);
    const std::int64_t last = x.shape().rank() - 1;
    const std::int64_t dimension = call.dimension("dim", x.shape().rank(), -1);
    return {exchanged(function(exchanged(x, dimension, last)), dimension, last)};
}
Value lower_softmax(const Call& call) {
    return along(call, [](const Tensor& x) { return softmax(x); });
}
Value lower_log_softmax(const Call& call) {
    return along(call, [](const Tensor& x) { return log_softmax(x); });
}

constexpr auto activations_table = std::to_array<OperatorRow>({
    {"aten._log_softmax", lower_log_softmax},
    {"aten._softmax", lower_softmax},
    {"aten.celu", lower_celu},
    {"aten.elu", lower_elu},
    {"aten.gelu", lower_gelu},
    {"aten.glu", lower_glu},
    {"aten.hardsigmoid", lower_hardsigmoid},
    {"aten.hardswish", lower_hardswish},
    {"aten.hardtanh", lower_hardtanh},
    {"aten.leaky_relu", lower_leaky_relu},
    {"aten.log_sigmoid", lower_log_sigmoid},
    {"aten.log_softmax", lower_log_softmax},
    {"aten.mish", lower_mish},
    {"aten.prelu", lower_prelu},
    {"aten.relu", lower_relu},
    {"aten.relu6", lower_relu6},
    {"aten.selu", lower_selu},
    {"aten.sigmoid", lower_sigmoid},
    {"aten.silu", lower_silu},
    {"aten.softmax", lower_softmax},
    {"aten.softplus", lower_softplus},
    {"aten.tanh", lower_tanh},
});

}    // namespace

std::span<const OperatorRow> activation_rows() {
    return activations_table;
}

}    // namespace slipway::importer
