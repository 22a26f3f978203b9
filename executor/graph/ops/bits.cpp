#include <cstring>
#include <limits>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/elementwise.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/rules.h"

/// Ops on bits: not, and, or, xor, shifts, bitcast_convert.
namespace slipway {

Tensor logical_not(const Tensor& x) {
    return make_node(
        {.op = OpCode::logical_not, .attributes = NoAttributes{}, .operands = {x}, .result = {}});
}

Tensor logical_and(const Tensor& x, const Tensor& y) {
    return binary(OpCode::logical_and, x, y);
}
Tensor logical_or(const Tensor& x, const Tensor& y) {
    return binary(OpCode::logical_or, x, y);
}
Tensor logical_xor(const Tensor& x, const Tensor& y) {
    return binary(OpCode::logical_xor, x, y);
}
Tensor shift_left(const Tensor& x, const Tensor& y) {
    return binary(OpCode::shift_left, x, y);
}
Tensor shift_right_logical(const Tensor& x, const Tensor& y) {
    return binary(OpCode::shift_right_logical, x, y);
}

Tensor bitcast_convert(const Tensor& x, DType dtype) {
    return make_node({.op = OpCode::bitcast_convert,
                      .attributes = NoAttributes{},
                      .operands = {x},
                      .result = {dtype, x.dims()}});
}

namespace {

bool has_bits(DType dtype) {
    return dtype == DType::pred || is_integer(dtype);
}

/// Element by element as unsigned 64-bit numbers; the result's low bits are kept.
template <class Function>
Array combined_bits(const Node& node, std::span<const Array> operands, Function&& f) {
    return with_any_type(node.shape.dtype, [&]<class T>() {
        Array result(node.shape);
        const auto x = operands[0].as<T>();
        const auto y = operands[1].as<T>();
        auto to = result.as<T>();
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = static_cast<T>(f(std::uint64_t(x[i]), std::uint64_t(y[i])));
        return result;
    });
}

/// Shifts the bits of x, not those its sign repeats to the left; by the width or more, or by a
/// negative number, gives 0.
template <class Function>
Array shifted(const Node& node, std::span<const Array> operands, Function&& f) {
    return with_integer_type(node.shape.dtype, [&]<class T>() {
        using Bits = std::make_unsigned_t<T>;
        Array result(node.shape);
        const auto x = operands[0].as<T>();
        const auto y = operands[1].as<T>();
        auto to = result.as<T>();
        for (std::size_t i = 0; i < to.size(); ++i) {
            const bool has_left = Bits(y[i]) < Bits(std::numeric_limits<Bits>::digits);
            to[i] = has_left ? T(Bits(f(std::uint64_t(Bits(x[i])), unsigned(y[i])))) : T(0);
        }
        return result;
    });
}

}    // namespace

namespace rules {

Shape infer_not(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    require(has_bits(x.dtype), request, 1, "the operand must be pred or whole numbers");
    return x;
}

Shape infer_bits(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    const Shape& y = request.operands[1].shape();
    require(x.dtype == y.dtype, request, 1, "operands must have one dtype");
    require(x.dims == y.dims, request, 2, "operands must have equal dims, or one be a scalar");
    require(has_bits(x.dtype), request, 3, "operands must be pred or whole numbers");
    return x;
}

Shape infer_integers(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    const Shape& y = request.operands[1].shape();
    require(x.dtype == y.dtype, request, 1, "operands must have one dtype");
    require(x.dims == y.dims, request, 2, "operands must have equal dims, or one be a scalar");
    require(is_integer(x.dtype), request, 3, "operands must be whole numbers");
    return x;
}

Shape infer_bitcast_convert(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    const DType dtype = request.result.dtype;
    require(size_in_bytes(x.dtype) == size_in_bytes(dtype), request, 1,
            "{} is not as wide as the operand", to_string(dtype));
    require(is_number(x.dtype) && is_number(dtype), request, 2, "pred has no bits to look at");
    return {dtype, x.dims};
}

Array evaluate_not(const Node& node, std::span<const Array> operands) {
    return with_any_type(node.shape.dtype, [&]<class T>() {
        Array result(node.shape);
        const auto x = operands[0].as<T>();
        auto to = result.as<T>();
        for (std::size_t i = 0; i < to.size(); ++i) {
            if constexpr (std::is_same_v<T, bool>) {
                to[i] = !x[i];
            } else {
                to[i] = static_cast<T>(~std::uint64_t(x[i]));
            }
        }
        return result;
    });
}

Array evaluate_and(const Node& node, std::span<const Array> operands) {
    return combined_bits(node, operands, [](std::uint64_t x, std::uint64_t y) { return x & y; });
}

Array evaluate_or(const Node& node, std::span<const Array> operands) {
    return combined_bits(node, operands, [](std::uint64_t x, std::uint64_t y) { return x | y; });
}

Array evaluate_xor(const Node& node, std::span<const Array> operands) {
    return combined_bits(node, operands, [](std::uint64_t x, std::uint64_t y) { return x ^ y; });
}

Array evaluate_shift_left(const Node& node, std::span<const Array> operands) {
    return shifted(node, operands, [](std::uint64_t x, unsigned count) { return x << count; });
}

Array evaluate_shift_right_logical(const Node& node, std::span<const Array> operands) {
    return shifted(node, operands, [](std::uint64_t x, unsigned count) { return x >> count; });
}

Array evaluate_bitcast_convert(const Node& node, std::span<const Array> operands) {
    Array result(node.shape);
    std::memcpy(result.bytes(), operands[0].bytes(), std::size_t(result.byte_count()));
    return result;
}

}    // namespace rules

}    // namespace slipway
