#pragma once

#include "executor/graph/composite_table.h"
#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/dims.h"

/// What decompositions are written with.
namespace slipway {

/// The type that sums and functions are calculated in: f32 for bf16.
inline DType wide_type(DType dtype) {
    return dtype == DType::bf16 ? DType::f32 : dtype;
}

inline Tensor as(const Tensor& x, DType dtype) {
    return x.dtype() == dtype ? x : convert(x, dtype);
}

inline Tensor widened(const Tensor& x) {
    return as(x, wide_type(x.dtype()));
}

inline Tensor number_like(const Tensor& x, double value) {
    return constant(value, x.dtype());
}

inline Tensor zeros_like(const Tensor& x) {
    return broadcast(number_like(x, 0), x.dims());
}

inline std::int64_t last_dimension(const Tensor& x) {
    return x.shape().rank() - 1;
}

/// All dims but the last.
inline Dims row_dims(const Dims& dims) {
    return {dims.begin(), dims.end() - 1};
}

inline Tensor reduce_rows(const Tensor& x, Reduction reduction) {
    return reduce(x, {last_dimension(x)}, reduction);
}

/// One number per row, repeated along it.
inline Tensor along_rows(const Tensor& rows, const Tensor& like) {
    return broadcast_in_dim(rows, like.dims(), identity_permutation(rows.shape().rank()));
}

/// One number per column, repeated over the rows.
inline Tensor over_rows(const Tensor& columns, const Tensor& like) {
    return broadcast_in_dim(columns, like.dims(), {last_dimension(like)});
}

/// Floating, with a last axis that is not empty.
inline void require_rows(const NodeRequest& request, const Shape& x) {
    require(is_floating(x.dtype) && x.rank() >= 1 && x.dims.back() > 0, request, 1,
            "the operand must be floating, with a last axis that is not empty");
}

}    // namespace slipway
