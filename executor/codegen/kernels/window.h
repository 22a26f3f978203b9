#pragma once

#include "executor/graph/op.h"
#include "executor/program/program.h"
#include "executor/tensor/shape.h"

namespace slipway {

/// writes[0] = the reduction of each window over reads[0], dense; bf16 is combined in f32. Rows
/// that windows do not reach along, such as the channels of channels-last images, are the fastest.
/// errors  invalid_argument when no program runs the dtype
Kernel make_reduce_window(const Shape& x, const ReduceWindowAttributes& window,
                          const Shape& result);

/// writes[0] (like reads[0], dense) = each element of reads[1] added where its window over
/// reads[0] has its first largest element (a NaN is the largest); 0 elsewhere. When it needs sums,
/// writes[1] = scratch memory for as many f32: the sums before they are rounded.
/// errors  invalid_argument when no program runs the dtype
Kernel make_select_and_scatter(const Shape& input, const SelectAndScatterAttributes& window,
                               const Shape& source);

/// Whether make_select_and_scatter's kernel wants memory for sums: bf16, windows that overlap.
bool scatter_needs_sums(const Shape& input, const SelectAndScatterAttributes& window,
                        const Shape& source);

}    // namespace slipway
