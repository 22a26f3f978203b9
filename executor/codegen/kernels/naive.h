#pragma once

#include "executor/codegen/kernels/view.h"
#include "executor/graph/op.h"
#include "executor/program/program.h"

namespace slipway {

/// A batched matrix product of views, f32: [batch, m, k] x [batch, k, n] -> [batch, m, n] dense.
/// Plain loops: for what the library does not take (empty sums, strides it refuses).
Kernel make_naive_matmul(const View& lhs, const View& rhs);

/// Any convolution of dense f32 operands, by plain loops: for what the library does not take.
Kernel make_naive_convolution(const Dims& input, const Dims& kernel,
                              const ConvolutionAttributes& attributes, const Dims& result);

}    // namespace slipway
