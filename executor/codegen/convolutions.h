#pragma once

#include <vector>

#include "executor/codegen/kernels/view.h"
#include "executor/codegen/onednn/convolution.h"
#include "executor/graph/op.h"

namespace slipway {

/// The ways in which the library could compute a convolution node, best first. Gradients are
/// ordinary convolutions in the graph; here they are recognised by their attributes:
///   gaps in the input, or a reversed kernel   the input's gradient (backward_data)
///   a window larger than the result           the kernel's gradient (backward_weights)
///   everything else                           forward
/// Each spec computes the very same sums. A spec may still be refused by make_convolution; none is
/// given where the attributes do not fit.
/// input, kernel  views of the operands in their own dims; the result is dense in `result` dims
std::vector<ConvolutionSpec> convolution_specs(const View& input, const View& kernel,
                                               const ConvolutionAttributes& attributes,
                                               const Dims& result);

}    // namespace slipway
