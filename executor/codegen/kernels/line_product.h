#pragma once

#include <cstddef>
#include <cstdint>

#include "executor/codegen/kernels/view.h"
#include "executor/tensor/dtype.h"

namespace slipway {

/// A product of few rows with a matrix whose columns' terms lie one after the other (weights of a
/// linear layer), for one thread: result = lhs rhs, or result + lhs rhs where it `adds`. Views have
/// two dimensions; the stride of the terms is 1 in both operands, that of the columns in the
/// result. Numbers are f32 or bf16, the same type in both operands, and a result is rounded once.
/// Terms are added to 16 partial sums by fused multiply-adds (bf16 in pairs where the processor
/// multiplies it), and the partial sums by a fixed tree: the bits of a result depend on its row and
/// column alone, not on how many rows there are.
struct LineProduct {
    View lhs, rhs, result;
    DType operands = DType::f32;
    DType results = DType::f32;
    bool adds = false;

    /// Whether lines lie so and are long enough: 4 columns or more of 16 terms or more.
    bool is_possible() const;
    /// Whether it is at least as fast as the library: up to 15 rows in f32, one in bf16. Those of
    /// several replicas may be more.
    bool pays() const;
    void multiply(const std::byte* left, const std::byte* right, std::byte* to) const;
};

}    // namespace slipway
