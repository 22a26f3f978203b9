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

}    // namespace slipway
