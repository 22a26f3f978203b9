#include <array>
#include <cmath>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

using Binary = Tensor (*)(const Tensor&, const Tensor&);
using Unary = Tensor (*)(const Tensor&);

/// x + alpha * y, or x - alpha * y.
template <Binary function>
Value combined(const Call& call) {
    Operands both = operands(call, "self", "other");
    const double alpha = call.number("alpha", 1);
    if (alpha != 1) both.y = both.y * number_like(both.y, alpha);
    return {function(both.x, both.y)};
}

template <Binary function>
Value binary(const Call& call) {
    const Operands both = operands(call, "self", "other");
    return {function(both.x, both.y)};
}

template <Unary function>
Value unary(const Call& call) {
    return {function(as_floating(call.tensor("self")))};
}

/// Of whole numbers, too.
template <Unary function>
Value unary_of_any(const Call& call) {
    return {function(call.tensor("self"))};
}

Value lower_rsub(const Call& call) {
    Operands both = operands(call, "self", "other");
    const double alpha = call.number("alpha", 1);
    if (alpha != 1) both.x = both.x * number_like(both.x, alpha);
    return {both.y - both.x};
}

Tensor truncated(const Tensor& x) {
    return sign(x) * floor(abs(x));
}

Value lower_div(const Call& call) {
    const Operands both = operands(call, "self", "other");
    const std::string rounding = call.text("rounding_mode", "");
    const Tensor quotient = as_floating(both.x) / as_floating(both.y);
    if (rounding.empty()) return {quotient};
    const bool whole = !is_floating(both.x.dtype());
    const Tensor rounded = rounding == "floor" ? floor(quotient) : truncated(quotient);
    return {whole ? convert(rounded, both.x.dtype()) : rounded};
}

Value lower_floor_divide(const Call& call) {
    const Operands both = operands(call, "self", "other");
    const Tensor rounded = floor(as_floating(both.x) / as_floating(both.y));
    return {as_type(rounded, both.x.dtype())};
}

/// Of the sign of the divisor, as Python's.
Value lower_remainder(const Call& call) {
    const Operands both = operands(call, "self", "other");
    const Tensor rest = remainder(both.x, both.y);
    const Tensor zero = broadcast(number_like(rest, 0), rest.dims());
    const Tensor is_other = logical_and(
        compare(rest, zero, Comparison::ne),
        logical_xor(compare(rest, zero, Comparison::lt), compare(both.y, zero, Comparison::lt)));
    return {select(is_other, rest + both.y, rest)};
}

/// x to a power that is known: by products and roots, which are exact where `power` is not.
Tensor to_power(const Tensor& x, double exponent) {
    if (exponent == 0) return broadcast(number_like(x, 1), x.dims());
    if (exponent == 1) return x;
    if (exponent == 2) return x * x;
    if (exponent == 3) return x * x * x;
    if (exponent == 4) return (x * x) * (x * x);
    if (exponent == 0.5) return sqrt(x);
    if (exponent == -0.5) return rsqrt(x);
    if (exponent == -1) return broadcast(number_like(x, 1), x.dims()) / x;
    return power(x, broadcast(number_like(x, exponent), x.dims()));
}

Value lower_pow(const Call& call) {
    const Value& base = call.argument("self");
    const Value& exponent = call.argument("exponent");
    if (base.tensor() != nullptr && exponent.tensor() == nullptr) {
        const double number = call.number("exponent");
        const bool stays_whole = number == std::floor(number) && number >= 0;
        const Tensor& x = *base.tensor();
        return {to_power(stays_whole ? x : as_floating(x), number)};
    }
    const Operands both = operands(call, base, exponent);
    return {power(as_floating(both.x), as_floating(both.y))};
}

Value lower_square(const Call& call) {
    const Tensor x = call.tensor("self");
    return {x * x};
}

Value lower_reciprocal(const Call& call) {
    return {to_power(as_floating(call.tensor("self")), -1)};
}

Value lower_clamp(const Call& call) {
    Tensor x = call.tensor("self");
    const auto limit = [&](std::string_view name, Binary function) {
        if (!call.has(name)) return;
        const Operands both = operands(call, Value{x}, call.argument(name));
        x = function(both.x, both.y);
    };
    limit("min", maximum);
    limit("max", minimum);
    return {x};
}

Value lower_addcmul(const Call& call) {
    const Operands product = operands(call, "tensor1", "tensor2");
    const Tensor scaled = product.x * product.y * number_like(product.x, call.number("value", 1));
    const Operands both = operands(call, call.argument("self"), Value{scaled});
    return {both.x + both.y};
}

Value lower_addcdiv(const Call& call) {
    const Operands quotient = operands(call, "tensor1", "tensor2");
    const Tensor scaled =
        quotient.x / quotient.y * number_like(quotient.x, call.number("value", 1));
    const Operands both = operands(call, call.argument("self"), Value{scaled});
    return {both.x + both.y};
}

Value lower_lerp(const Call& call) {
    const Operands both = operands(call, "self", "end");
    const Operands step = operands(call, Value{both.y - both.x}, call.argument("weight"));
    return {expanded(call, both.x, step.x.dims()) + step.x * step.y};
}

Tensor logarithm_of_base(const Tensor& x, double base) {
    return log(x) * number_like(x, 1 / std::log(base));
}
Value lower_log2(const Call& call) {
    return {logarithm_of_base(as_floating(call.tensor("self")), 2)};
}
Value lower_log10(const Call& call) {
    return {logarithm_of_base(as_floating(call.tensor("self")), 10)};
}
Value lower_ceil(const Call& call) {
    return {negate(floor(negate(as_floating(call.tensor("self")))))};
}
Value lower_trunc(const Call& call) {
    return {truncated(as_floating(call.tensor("self")))};
}
/// Halves go to the even neighbour.
Value lower_round(const Call& call) {
    const Tensor x = as_floating(call.tensor("self"));
    // Beyond 2^23 all f32 are whole; below, this sum drops the fraction in the machine's rounding.
    const Tensor large = broadcast(number_like(x, 8388608), x.dims());
    const Tensor rounded = optimization_barrier(abs(x) + large) - large;
    return {stop_gradient(select(compare(abs(x), large, Comparison::lt), sign(x) * rounded, x))};
}

constexpr auto arithmetic_table = std::to_array<OperatorRow>({
    {"aten.abs", unary_of_any<abs>},
    {"aten.add", combined<add>},
    {"aten.addcdiv", lower_addcdiv},
    {"aten.addcmul", lower_addcmul},
    {"aten.ceil", lower_ceil},
    {"aten.clamp", lower_clamp},
    {"aten.clamp_max", lower_clamp},
    {"aten.clamp_min", lower_clamp},
    {"aten.cos", unary<cosine>},
    {"aten.div", lower_div},
    {"aten.erf", unary<erf>},
    {"aten.exp", unary<exponential>},
    {"aten.expm1", unary<exponential_minus_one>},
    {"aten.floor", unary<floor>},
    {"aten.floor_divide", lower_floor_divide},
    {"aten.lerp", lower_lerp},
    {"aten.log", unary<log>},
    {"aten.log10", lower_log10},
    {"aten.log1p", unary<log_plus_one>},
    {"aten.log2", lower_log2},
    {"aten.max.other", binary<maximum>},
    {"aten.maximum", binary<maximum>},
    {"aten.min.other", binary<minimum>},
    {"aten.minimum", binary<minimum>},
    {"aten.mul", binary<multiply>},
    {"aten.neg", unary_of_any<negate>},
    {"aten.pow", lower_pow},
    {"aten.reciprocal", lower_reciprocal},
    {"aten.remainder", lower_remainder},
    {"aten.round", lower_round},
    {"aten.rsqrt", unary<rsqrt>},
    {"aten.rsub", lower_rsub},
    {"aten.sign", unary_of_any<sign>},
    {"aten.sin", unary<sine>},
    {"aten.sqrt", unary<sqrt>},
    {"aten.square", lower_square},
    {"aten.sub", combined<subtract>},
    {"aten.trunc", lower_trunc},
});

}    // namespace

std::span<const OperatorRow> arithmetic_rows() {
    return arithmetic_table;
}

}    // namespace slipway::importer
