#pragma once

#include "executor/codegen/kernels/view.h"
#include "executor/graph/op.h"
#include "executor/program/program.h"

namespace slipway {

/// The element types of a product: f32 or bf16 operands, f32 or bf16 results.
struct ProductTypes {
    DType operands = DType::f32;
    DType results = DType::f32;
};

/// A batched matrix product of views: [batch..., m, k] x [batch..., k, n] -> [batch..., m, n]; sums
/// in f32. Plain loops: for what the library does not take (empty sums, strides it refuses), and
/// for products so small that calling it takes longer.
Kernel make_naive_matmul(const View& lhs, const View& rhs, const View& result, ProductTypes types);

/// Any convolution of dense operands, by plain loops: for what the library does not take.
Kernel make_naive_convolution(const Dims& input, const Dims& kernel,
                              const ConvolutionAttributes& attributes, const Dims& result,
                              ProductTypes types);

}    // namespace slipway
