#include <cmath>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/elementwise.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/rules.h"

/// Elementwise ops of two numbers.
namespace slipway {

namespace {

template <class T, class Function>
Array combined(const Node& node, std::span<const Array> operands, Function&& f) {
    Array result(node.shape);
    const auto x = operands[0].as<T>();
    const auto y = operands[1].as<T>();
    auto to = result.as<T>();
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = f(x[i], y[i]);
    return result;
}

template <class Function>
Array combined_floats(const Node& node, std::span<const Array> operands, Function&& f) {
    return with_floating_type(node.shape.dtype, [&]<class T>() {
        return combined<T>(node, operands, [&](T x, T y) { return T(f(x, y)); });
    });
}

/// Integers are given to `f` as unsigned 64-bit numbers, so that they wrap around.
template <class Function>
Array combined_numbers(const Node& node, std::span<const Array> operands, Function&& f) {
    return with_number_type(node.shape.dtype, [&]<class T>() {
        if constexpr (is_floating_type<T>) {
            return combined<T>(node, operands, [&](T x, T y) { return T(f(x, y)); });
        } else {
            return combined<T>(node, operands, [&](T x, T y) {
                return static_cast<T>(f(std::uint64_t(x), std::uint64_t(y)));
            });
        }
    });
}

/// The one of x and y that `is_first` prefers; a NaN wins over everything.
template <class IsFirst>
Array chosen(const Node& node, std::span<const Array> operands, IsFirst&& is_first) {
    return with_number_type(node.shape.dtype, [&]<class T>() {
        return combined<T>(node, operands,
                           [&](T x, T y) { return x != x || is_first(x, y) ? x : y; });
    });
}

/// dy where `condition`, 0 elsewhere; and the reverse.
std::vector<Tensor> split_by(const Tensor& condition, const Tensor& dy) {
    const Tensor zero = constant(0, dy.dtype());
    return {select(condition, dy, zero), select(condition, zero, dy)};
}

}    // namespace

Tensor binary(OpCode op, const Tensor& x, const Tensor& y) {
    return make_node({.op = op,
                      .attributes = NoAttributes{},
                      .operands = {spread_scalar(x, y), spread_scalar(y, x)},
                      .result = {}});
}

Tensor spread_scalar(const Tensor& x, const Tensor& y) {
    const bool is_spread = x.dims().empty() && !y.dims().empty();
    return is_spread ? broadcast(x, y.dims()) : x;
}

Tensor add(const Tensor& x, const Tensor& y) {
    return binary(OpCode::add, x, y);
}
Tensor subtract(const Tensor& x, const Tensor& y) {
    return binary(OpCode::subtract, x, y);
}
Tensor multiply(const Tensor& x, const Tensor& y) {
    return binary(OpCode::multiply, x, y);
}
Tensor divide(const Tensor& x, const Tensor& y) {
    return binary(OpCode::divide, x, y);
}
Tensor maximum(const Tensor& x, const Tensor& y) {
    return binary(OpCode::maximum, x, y);
}
Tensor minimum(const Tensor& x, const Tensor& y) {
    return binary(OpCode::minimum, x, y);
}
Tensor power(const Tensor& x, const Tensor& y) {
    return binary(OpCode::power, x, y);
}
Tensor remainder(const Tensor& x, const Tensor& y) {
    return binary(OpCode::remainder, x, y);
}

namespace rules {

Shape infer_numbers(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    const Shape& y = request.operands[1].shape();
    require(x.dtype == y.dtype, request, 1, "operands must have one dtype");
    require(x.dims == y.dims, request, 2, "operands must have equal dims, or one be a scalar");
    require(is_number(x.dtype), request, 3, "operands must be numbers");
    return x;
}

Shape infer_floats(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    const Shape& y = request.operands[1].shape();
    require(x.dtype == y.dtype, request, 1, "operands must have one dtype");
    require(x.dims == y.dims, request, 2, "operands must have equal dims, or one be a scalar");
    require(is_floating(x.dtype), request, 3, "operands must be floating");
    return x;
}

std::vector<Tensor> gradient_add(const Tensor&, const Tensor& dy) {
    return {dy, dy};
}

std::vector<Tensor> gradient_subtract(const Tensor&, const Tensor& dy) {
    return {dy, negate(dy)};
}

std::vector<Tensor> gradient_multiply(const Tensor& y, const Tensor& dy) {
    const auto& operands = y.node().operands;
    return {dy * operands[1], dy * operands[0]};
}

std::vector<Tensor> gradient_divide(const Tensor& y, const Tensor& dy) {
    const Tensor dx = dy / y.node().operands[1];
    return {dx, negate(dx * y)};
}

/// y is above the second operand exactly where the first is; and it is y that others keep anyway.
std::vector<Tensor> gradient_maximum(const Tensor& y, const Tensor& dy) {
    return split_by(compare(y, y.node().operands[1], Comparison::gt), dy);
}

std::vector<Tensor> gradient_minimum(const Tensor& y, const Tensor& dy) {
    return split_by(compare(y, y.node().operands[1], Comparison::lt), dy);
}

/// d x^e = e x^(e-1) dx + x^e log(x) de; 0 where e = 0 and where x = 0, as the limits are.
std::vector<Tensor> gradient_power(const Tensor& y, const Tensor& dy) {
    const Tensor& x = y.node().operands[0];
    const Tensor& exponent = y.node().operands[1];
    const Tensor zero = broadcast(constant(0, y.dtype()), y.dims());
    const Tensor one = constant(1, y.dtype());
    const Tensor dx = dy * exponent * power(x, exponent - one);
    const Tensor dexponent = dy * y * log(x);
    return {select(compare(exponent, zero, Comparison::eq), zero, dx),
            select(compare(x, zero, Comparison::eq), zero, dexponent)};
}

/// x = trunc(x / y) y + z, and the quotient does not move.
std::vector<Tensor> gradient_remainder(const Tensor& z, const Tensor& dz) {
    const Tensor& x = z.node().operands[0];
    const Tensor& y = z.node().operands[1];
    return {dz, negate(dz * ((x - z) / y))};
}

Array evaluate_add(const Node& node, std::span<const Array> operands) {
    return combined_numbers(node, operands, [](auto x, auto y) { return x + y; });
}

Array evaluate_subtract(const Node& node, std::span<const Array> operands) {
    return combined_numbers(node, operands, [](auto x, auto y) { return x - y; });
}

Array evaluate_multiply(const Node& node, std::span<const Array> operands) {
    return combined_numbers(node, operands, [](auto x, auto y) { return x * y; });
}

Array evaluate_divide(const Node& node, std::span<const Array> operands) {
    return combined_floats(node, operands, [](auto x, auto y) { return x / y; });
}

Array evaluate_maximum(const Node& node, std::span<const Array> operands) {
    return chosen(node, operands, [](auto x, auto y) { return x > y; });
}

Array evaluate_minimum(const Node& node, std::span<const Array> operands) {
    return chosen(node, operands, [](auto x, auto y) { return x < y; });
}

Array evaluate_power(const Node& node, std::span<const Array> operands) {
    return combined_floats(node, operands,
                           []<class T>(T x, T y) { return T(std::pow(double(x), double(y))); });
}

Array evaluate_remainder(const Node& node, std::span<const Array> operands) {
    return with_number_type(node.shape.dtype, [&]<class T>() {
        return combined<T>(node, operands, [](T x, T y) {
            if constexpr (is_floating_type<T>) {
                return T(std::fmod(double(x), double(y)));
            } else {
                if (y == T(0)) return x;
                if constexpr (std::is_signed_v<T>)
                    if (y == T(-1)) return T(0);    // the lowest by -1 has no quotient
                return T(x % y);
            }
        });
    });
}

}    // namespace rules

}    // namespace slipway
