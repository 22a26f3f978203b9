#include <cmath>
#include <numbers>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/rules.h"

/// Elementwise ops of one operand.
namespace slipway {

namespace {

Tensor unary(OpCode op, const Tensor& x) {
    return make_node({.op = op, .attributes = NoAttributes{}, .operands = {x}, .result = {}});
}

Tensor scalar_like(const Tensor& x, double value) {
    return constant(value, x.dtype());
}

/// Each element through `f`, calculated in f64 and rounded once.
template <class Function>
Array mapped(const Node& node, const Array& x, Function&& f) {
    return with_floating_type(node.shape.dtype, [&]<class T>() {
        Array result(node.shape);
        const auto from = x.as<T>();
        auto to = result.as<T>();
        for (std::size_t i = 0; i < from.size(); ++i)
            to[i] = T(f(double(from[i])));
        return result;
    });
}

/// Each element through `f` in its own type, integers too.
template <class Function>
Array mapped_numbers(const Node& node, const Array& x, Function&& f) {
    return with_number_type(node.shape.dtype, [&]<class T>() {
        Array result(node.shape);
        const auto from = x.as<T>();
        auto to = result.as<T>();
        for (std::size_t i = 0; i < from.size(); ++i)
            to[i] = f(from[i]);
        return result;
    });
}

template <class T>
T negated(T value) {
    if constexpr (is_floating_type<T>) {
        return T(-value);
    } else {
        return T(0 - std::uint64_t(value));    // wraps around
    }
}

}    // namespace

Tensor negate(const Tensor& x) {
    return unary(OpCode::negate, x);
}
Tensor abs(const Tensor& x) {
    return unary(OpCode::abs, x);
}
Tensor sign(const Tensor& x) {
    return unary(OpCode::sign, x);
}
Tensor exponential(const Tensor& x) {
    return unary(OpCode::exponential, x);
}
Tensor exponential_minus_one(const Tensor& x) {
    return unary(OpCode::exponential_minus_one, x);
}
Tensor log_plus_one(const Tensor& x) {
    return unary(OpCode::log_plus_one, x);
}
Tensor erf(const Tensor& x) {
    return unary(OpCode::erf, x);
}
Tensor sine(const Tensor& x) {
    return unary(OpCode::sine, x);
}
Tensor cosine(const Tensor& x) {
    return unary(OpCode::cosine, x);
}
Tensor log(const Tensor& x) {
    return unary(OpCode::log, x);
}
Tensor sqrt(const Tensor& x) {
    return unary(OpCode::sqrt, x);
}
Tensor rsqrt(const Tensor& x) {
    return unary(OpCode::rsqrt, x);
}
Tensor tanh(const Tensor& x) {
    return unary(OpCode::tanh, x);
}
Tensor logistic(const Tensor& x) {
    return unary(OpCode::logistic, x);
}
Tensor floor(const Tensor& x) {
    return unary(OpCode::floor, x);
}

namespace rules {

Shape infer_signed(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    require(is_floating(x.dtype) || x.dtype == DType::i32 || x.dtype == DType::i64, request, 1,
            "the operand must be a signed number");
    return x;
}

Shape infer_floating(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    require(is_floating(x.dtype), request, 1, "the operand must be floating");
    return x;
}

std::vector<Tensor> gradient_negate(const Tensor&, const Tensor& dy) {
    return {negate(dy)};
}

std::vector<Tensor> gradient_abs(const Tensor& y, const Tensor& dy) {
    return {dy * sign(y.node().operands[0])};
}

std::vector<Tensor> gradient_flat(const Tensor&, const Tensor&) {
    return {Tensor()};
}

std::vector<Tensor> gradient_exponential(const Tensor& y, const Tensor& dy) {
    return {dy * y};
}

std::vector<Tensor> gradient_exponential_minus_one(const Tensor& y, const Tensor& dy) {
    return {dy * (y + scalar_like(y, 1))};
}

std::vector<Tensor> gradient_log_plus_one(const Tensor& y, const Tensor& dy) {
    return {dy / (y.node().operands[0] + scalar_like(y, 1))};
}

std::vector<Tensor> gradient_erf(const Tensor& y, const Tensor& dy) {
    const Tensor& x = y.node().operands[0];
    return {dy * (scalar_like(y, 2 / std::sqrt(std::numbers::pi)) * exponential(negate(x * x)))};
}

std::vector<Tensor> gradient_sine(const Tensor& y, const Tensor& dy) {
    return {dy * cosine(y.node().operands[0])};
}

std::vector<Tensor> gradient_cosine(const Tensor& y, const Tensor& dy) {
    return {dy * negate(sine(y.node().operands[0]))};
}

std::vector<Tensor> gradient_log(const Tensor& y, const Tensor& dy) {
    return {dy / y.node().operands[0]};
}

std::vector<Tensor> gradient_sqrt(const Tensor& y, const Tensor& dy) {
    return {dy * scalar_like(y, 0.5) / y};
}

std::vector<Tensor> gradient_rsqrt(const Tensor& y, const Tensor& dy) {
    return {dy * scalar_like(y, -0.5) * (y * y * y)};
}

std::vector<Tensor> gradient_tanh(const Tensor& y, const Tensor& dy) {
    return {dy * (scalar_like(y, 1) - y * y)};
}

std::vector<Tensor> gradient_logistic(const Tensor& y, const Tensor& dy) {
    return {dy * y * (scalar_like(y, 1) - y)};
}

Array evaluate_negate(const Node& node, std::span<const Array> operands) {
    return mapped_numbers(node, operands[0], [](auto x) { return negated(x); });
}

Array evaluate_abs(const Node& node, std::span<const Array> operands) {
    return mapped_numbers(node, operands[0], [](auto x) {
        if constexpr (is_floating_type<decltype(x)>) {
            return decltype(x)(std::abs(x));
        } else {
            return x < decltype(x)(0) ? negated(x) : x;
        }
    });
}

Array evaluate_sign(const Node& node, std::span<const Array> operands) {
    return mapped_numbers(node, operands[0], [](auto x) {
        const decltype(x) zero(0);
        if (x > zero) return decltype(x)(1);
        if (x < zero) return negated(decltype(x)(1));
        return x;    // 0, -0, NaN
    });
}

Array evaluate_exponential(const Node& node, std::span<const Array> operands) {
    return mapped(node, operands[0], [](double x) { return std::exp(x); });
}

Array evaluate_exponential_minus_one(const Node& node, std::span<const Array> operands) {
    return mapped(node, operands[0], [](double x) { return std::expm1(x); });
}

Array evaluate_log_plus_one(const Node& node, std::span<const Array> operands) {
    return mapped(node, operands[0], [](double x) { return std::log1p(x); });
}

Array evaluate_erf(const Node& node, std::span<const Array> operands) {
    return mapped(node, operands[0], [](double x) { return std::erf(x); });
}

Array evaluate_sine(const Node& node, std::span<const Array> operands) {
    return mapped(node, operands[0], [](double x) { return std::sin(x); });
}

Array evaluate_cosine(const Node& node, std::span<const Array> operands) {
    return mapped(node, operands[0], [](double x) { return std::cos(x); });
}

Array evaluate_log(const Node& node, std::span<const Array> operands) {
    return mapped(node, operands[0], [](double x) { return std::log(x); });
}

Array evaluate_sqrt(const Node& node, std::span<const Array> operands) {
    return mapped(node, operands[0], [](double x) { return std::sqrt(x); });
}

Array evaluate_rsqrt(const Node& node, std::span<const Array> operands) {
    return mapped(node, operands[0], [](double x) { return 1.0 / std::sqrt(x); });
}

Array evaluate_tanh(const Node& node, std::span<const Array> operands) {
    return mapped(node, operands[0], [](double x) { return std::tanh(x); });
}

Array evaluate_logistic(const Node& node, std::span<const Array> operands) {
    return mapped(node, operands[0], [](double x) { return 1.0 / (1.0 + std::exp(-x)); });
}

Array evaluate_floor(const Node& node, std::span<const Array> operands) {
    return mapped(node, operands[0], [](double x) { return std::floor(x); });
}

}    // namespace rules

}    // namespace slipway
