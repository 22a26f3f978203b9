#pragma once

#include <cstdint>

#include "executor/graph/op.h"

/// Pools of two by two elements that lie side by side and cover every row and column: the pool of
/// most small networks, as whole vectors. f32.
namespace slipway {

/// `rows` window rows of `columns` windows each over an operand of 2 rows x 2 columns elements.
struct PoolShape {
    std::int64_t rows = 0, columns = 0;
};

/// to[r, c] = the largest (a NaN if there is one) of the four under window (r, c).
void largest_of_four(const PoolShape& shape, const float* from, float* to);

/// to = source[r, c] where window (r, c) has its first largest element (the first NaN, if there is
/// one), 0 elsewhere.
void scatter_to_largest_of_four(const PoolShape& shape, const float* input, const float* source,
                                float* to);

}    // namespace slipway
