#pragma once

#include "executor/codegen/kernels/view.h"
#include "executor/program/program.h"

namespace slipway {

/// writes[0] = the reduction of a view of reads[0] over `dimensions`. Sums of f32 are kept in f32,
/// in 32 partial sums along the innermost loop and one by one along the others: an order that
/// depends on the shape only. Of nothing: 0, the lowest, the highest value.
/// errors  invalid_argument when no program runs the dtype
Kernel make_reduce(const View& x, const ReduceAttributes& reduction, DType dtype);

}    // namespace slipway
