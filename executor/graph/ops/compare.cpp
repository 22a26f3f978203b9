#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/elementwise.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/rules.h"

/// Elementwise decisions: compare, select.
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

}    // namespace rules

}    // namespace slipway
