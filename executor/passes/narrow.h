#pragma once

#include "executor/graph/tensor.h"

/// Where a graph changes between f32 and bf16, the narrow type.
namespace slipway {

/// A value of f32 made from one of the narrow type, which no rounding separates.
inline bool is_widened(const Tensor& x) {
    return x.node().op == OpCode::convert && x.dtype() == DType::f32 &&
           x.node().operands[0].dtype() == DType::bf16;
}

/// The rounding of an f32 to the narrow type.
inline bool is_narrowing(const Node& node) {
    return node.op == OpCode::convert && node.shape.dtype == DType::bf16 &&
           node.operands[0].dtype() == DType::f32;
}

/// Whole numbers that are held as f32 are read as such: no rounding comes before, which would make
/// 256 of 257.
inline bool reads_codes(const Node& node) {
    return node.op == OpCode::convert && is_integer(node.shape.dtype) &&
           node.operands[0].dtype() == DType::f32;
}

}    // namespace slipway
