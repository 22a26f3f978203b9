#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/dims.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/rules.h"

/// Ops that begin a graph (input, constant, iota) and those that keep each element as it is but for
/// its type (convert, stop_gradient).
namespace slipway {

Tensor input(Shape shape, Placement placement, std::string name) {
    return make_node({.op = OpCode::input,
                      .attributes = InputAttributes{std::move(name)},
                      .operands = {},
                      .result = std::move(shape),
                      .placement = placement});
}

Tensor constant(double value, DType dtype) {
    return make_node({.op = OpCode::constant,
                      .attributes = ConstantAttributes{value},
                      .operands = {},
                      .result = {dtype, {}}});
}

Tensor iota(Shape shape, std::int64_t dimension) {
    return make_node({.op = OpCode::iota,
                      .attributes = IotaAttributes{dimension},
                      .operands = {},
                      .result = std::move(shape)});
}

Tensor convert(const Tensor& x, DType dtype) {
    return make_node({.op = OpCode::convert,
                      .attributes = NoAttributes{},
                      .operands = {x},
                      .result = {dtype, x.dims()}});
}

Tensor stop_gradient(const Tensor& x) {
    return make_node(
        {.op = OpCode::stop_gradient, .attributes = NoAttributes{}, .operands = {x}, .result = {}});
}

namespace {

/// What `value` becomes as a To: true is 1; a fraction is cut off; what a To cannot hold becomes
/// its nearest number, and NaN 0; integers wrap around.
template <class To, class From>
To converted(From value) {
    if constexpr (std::is_same_v<To, bool>) {
        return value != From(0);
    } else if constexpr (std::is_same_v<From, BFloat16> && !std::is_same_v<To, BFloat16>) {
        return converted<To>(float(value));
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        // The largest integer rounds up to a power of two that To cannot hold: hence >= and not >.
        if (std::isnan(value)) return 0;
        if (value >= From(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
        if (value <= From(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
        return To(value);
    } else {
        return static_cast<To>(value);
    }
}

bool holds(DType dtype, double value) {
    switch (dtype) {
        case DType::pred:
            return value == 0 || value == 1;
        case DType::u8:
            return value == std::trunc(value) && value >= 0 && value <= 255;
        case DType::u32:
            return value == std::trunc(value) && value >= 0 && value < 0x1p32;
        case DType::i32:
            return value == std::trunc(value) && value >= -0x1p31 && value < 0x1p31;
        case DType::i64:
            return value == std::trunc(value) && std::abs(value) <= 0x1p53;
        case DType::bf16:
        case DType::f32:
        case DType::f64:
            return true;
    }
    return false;
}

}    // namespace

namespace rules {

Shape infer_input(const NodeRequest& request) {
    require(std::ranges::all_of(request.result.dims, [](std::int64_t e) { return e >= 0; }),
            request, 1, "extents must not be negative, got {}", to_string(request.result.dims));
    return request.result;
}

Shape infer_constant(const NodeRequest& request) {
    const double value = std::get<ConstantAttributes>(request.attributes).value;
    require(holds(request.result.dtype, value), request, 1, "{} cannot hold the value {}",
            to_string(request.result.dtype), value);
    check(request.result.dims.empty(), "a constant is a scalar");
    return request.result;
}

Shape infer_iota(const NodeRequest& request) {
    const std::int64_t dimension = std::get<IotaAttributes>(request.attributes).dimension;
    const Shape& shape = request.result;
    require(dimension >= 0 && dimension < shape.rank(), request, 1,
            "dimension must be in 0..{}, got {}", shape.rank() - 1, dimension);
    require(is_number(shape.dtype), request, 2, "the dtype must be a number, got {}",
            to_string(shape.dtype));
    require(std::ranges::all_of(shape.dims, [](std::int64_t e) { return e >= 0; }), request, 3,
            "extents must not be negative, got {}", to_string(shape.dims));
    return shape;
}

Shape infer_convert(const NodeRequest& request) {
    return {request.result.dtype, request.operands[0].dims()};
}

Shape infer_stop_gradient(const NodeRequest& request) {
    return request.operands[0].shape();
}

std::vector<Tensor> gradient_convert(const Tensor& y, const Tensor& dy) {
    const DType dtype = y.node().operands[0].dtype();
    if (!is_floating(dtype)) return {Tensor()};
    return {convert(dy, dtype)};
}

std::vector<Tensor> gradient_stop_gradient(const Tensor&, const Tensor&) {
    return {Tensor()};
}

Array evaluate_constant(const Node& node, std::span<const Array>) {
    const double value = std::get<ConstantAttributes>(node.attributes).value;
    return with_any_type(node.shape.dtype, [&]<class T>() {
        Array result(node.shape);
        result.as<T>()[0] = static_cast<T>(value);
        return result;
    });
}

Array evaluate_iota(const Node& node, std::span<const Array>) {
    const auto dimension = std::size_t(std::get<IotaAttributes>(node.attributes).dimension);
    return with_number_type(node.shape.dtype, [&]<class T>() {
        Array result(node.shape);
        auto values = result.as<T>();
        std::size_t n = 0;
        for_each_index(node.shape.dims,
                       [&](const Dims& index) { values[n++] = T(index[dimension]); });
        return result;
    });
}

Array evaluate_convert(const Node& node, std::span<const Array> operands) {
    const Array& x = operands[0];
    return with_any_type(x.shape().dtype, [&]<class From>() {
        return with_any_type(node.shape.dtype, [&]<class To>() {
            Array result(node.shape);
            const auto from = x.as<From>();
            auto to = result.as<To>();
            for (std::size_t i = 0; i < from.size(); ++i)
                to[i] = converted<To>(from[i]);
            return result;
        });
    });
}

Array evaluate_stop_gradient(const Node&, std::span<const Array> operands) {
    return operands[0];
}

}    // namespace rules

}    // namespace slipway
