#pragma once

#include <cstddef>
#include <cstdint>

#include "executor/codegen/kernels/view.h"

namespace slipway {

/// Whether a product of this size is a SmallProduct: at least two rows, two columns and 64 results,
/// of at most 768 terms each, and 4 million steps in all.
bool is_small_product(std::int64_t rows, std::int64_t columns, std::int64_t terms);

/// A product of two matrices in f32 for one thread: result = lhs rhs, or result + lhs rhs where it
/// `adds`. Views have two dimensions; in each, one of the strides is 1 (of the result the last).
/// Each result is the sum of its terms in their order, by fused multiply-adds from zero, halves of
/// more than 384 terms one after the other: the same bits for any part of rows or columns.
struct SmallProduct {
    View lhs, rhs, result;
    bool adds = false;

    void multiply(const float* left, const float* right, float* to) const;
};

}    // namespace slipway
