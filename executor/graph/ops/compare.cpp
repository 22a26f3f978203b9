#include <cmath>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/elementwise.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/rules.h"

/// Elementwise decisions: compare, select, clamp, is_finite.
namespace slipway {

Tensor compare(const Tensor& x, const Tensor& y, Comparison direction) {
    return make_node({.op = OpCode::compare,
                      .attributes = CompareAttributes{direction},
                      .operands = {spread_scalar(x, y), spread_scalar(y, x)},
                      .result = {}});
}

Tensor select(const Tensor& condition, const Tensor& when_true, const Tensor& when_false) {
    const Tensor on_true = spread_scalar(spread_scalar(when_true, when_false), condition);
    const Tensor on_false = spread_scalar(spread_scalar(when_false, when_true), condition);
    return make_node({.op = OpCode::select,
                      .attributes = NoAttributes{},
                      .operands = {spread_scalar(condition, on_true), on_true, on_false},
                      .result = {}});
}

Tensor clamp(const Tensor& low, const Tensor& x, const Tensor& high) {
    return make_node({.op = OpCode::clamp,
                      .attributes = NoAttributes{},
                      .operands = {spread_scalar(low, x), x, spread_scalar(high, x)},
                      .result = {}});
}

Tensor is_finite(const Tensor& x) {
    return make_node(
        {.op = OpCode::is_finite, .attributes = NoAttributes{}, .operands = {x}, .result = {}});
}

namespace {

template <class T>
bool holds(Comparison direction, T x, T y) {
    switch (direction) {
        case Comparison::eq:
            return x == y;
        case Comparison::ne:
            return x != y;
        case Comparison::lt:
            return x < y;
        case Comparison::le:
            return x <= y;
        case Comparison::gt:
            return x > y;
        case Comparison::ge:
            return x >= y;
    }
    return false;
}

}    // namespace

namespace rules {

Shape infer_compare(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    const Shape& y = request.operands[1].shape();
    require(x.dtype == y.dtype, request, 1, "operands must have one dtype");
    require(x.dims == y.dims, request, 2, "operands must have equal dims, or one be a scalar");
    return {DType::pred, x.dims};
}

Shape infer_select(const NodeRequest& request) {
    const Shape& condition = request.operands[0].shape();
    const Shape& when_true = request.operands[1].shape();
    const Shape& when_false = request.operands[2].shape();
    require(condition.dtype == DType::pred, request, 1, "the condition must be pred");
    require(when_true == when_false, request, 2,
            "both choices must have one shape, or one be a scalar");
    require(condition.dims == when_true.dims, request, 3,
            "the condition must have the dims of the choices");
    return when_true;
}

std::vector<Tensor> gradient_select(const Tensor& y, const Tensor& dy) {
    const Tensor& condition = y.node().operands[0];
    const Tensor zero = constant(0, dy.dtype());
    return {Tensor(), select(condition, dy, zero), select(condition, zero, dy)};
}

Shape infer_clamp(const NodeRequest& request) {
    const Shape& low = request.operands[0].shape();
    const Shape& x = request.operands[1].shape();
    const Shape& high = request.operands[2].shape();
    require(low.dtype == x.dtype && high.dtype == x.dtype, request, 1,
            "operands must have one dtype");
    require(low.dims == x.dims && high.dims == x.dims, request, 2,
            "the limits must have the operand's dims, or be scalars");
    require(is_number(x.dtype), request, 3, "operands must be numbers");
    return x;
}

Shape infer_is_finite(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    require(is_floating(x.dtype), request, 1, "the operand must be floating");
    return {DType::pred, x.dims};
}

/// To x from limit to limit, both included, as torch has it; beyond them to the limit. Where the
/// limits have changed places, to the upper one.
std::vector<Tensor> gradient_clamp(const Tensor& y, const Tensor& dy) {
    const Tensor& low = y.node().operands[0];
    const Tensor& x = y.node().operands[1];
    const Tensor& high = y.node().operands[2];
    const Tensor zero = constant(0, dy.dtype());
    const Tensor is_below = compare(x, low, Comparison::lt);
    const Tensor is_above = compare(maximum(x, low), high, Comparison::gt);
    const Tensor inside = select(is_above, zero, dy);
    return {select(is_below, inside, zero), select(is_below, zero, inside),
            select(is_above, dy, zero)};
}

Array evaluate_compare(const Node& node, std::span<const Array> operands) {
    const Comparison direction = std::get<CompareAttributes>(node.attributes).direction;
    return with_any_type(operands[0].shape().dtype, [&]<class T>() {
        Array result(node.shape);
        const auto x = operands[0].as<T>();
        const auto y = operands[1].as<T>();
        auto to = result.as<bool>();
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = holds(direction, x[i], y[i]);
        return result;
    });
}

Array evaluate_select(const Node& node, std::span<const Array> operands) {
    const auto condition = operands[0].as<bool>();
    return with_any_type(node.shape.dtype, [&]<class T>() {
        Array result(node.shape);
        const auto when_true = operands[1].as<T>();
        const auto when_false = operands[2].as<T>();
        auto to = result.as<T>();
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = condition[i] ? when_true[i] : when_false[i];
        return result;
    });
}

Array evaluate_clamp(const Node& node, std::span<const Array> operands) {
    return with_number_type(node.shape.dtype, [&]<class T>() {
        Array result(node.shape);
        const auto low = operands[0].as<T>();
        const auto x = operands[1].as<T>();
        const auto high = operands[2].as<T>();
        auto to = result.as<T>();
        for (std::size_t i = 0; i < to.size(); ++i) {
            const bool any_nan = low[i] != low[i] || high[i] != high[i];
            const T raised = x[i] < low[i] ? low[i] : x[i];
            to[i] = raised > high[i] ? high[i] : raised;
            if (any_nan) to[i] = low[i] != low[i] ? low[i] : high[i];
        }
        return result;
    });
}

Array evaluate_is_finite(const Node& node, std::span<const Array> operands) {
    return with_floating_type(operands[0].shape().dtype, [&]<class T>() {
        Array result(node.shape);
        const auto x = operands[0].as<T>();
        auto to = result.as<bool>();
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = std::isfinite(double(x[i]));
        return result;
    });
}

}    // namespace rules

}    // namespace slipway
