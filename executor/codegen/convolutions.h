#pragma once

#include <optional>
#include <vector>

#include "executor/codegen/kernels/patches.h"
#include "executor/codegen/kernels/view.h"
#include "executor/codegen/onednn/convolution.h"
#include "executor/graph/op.h"

namespace slipway {

/// Where a convolution node's operands and result lie, in their own dims.
struct ConvolutionViews {
    View input, kernel, result;
};

/// The ways in which the library could compute a convolution node, best first. Gradients are
/// ordinary convolutions in the graph; here they are recognised by their attributes:
///   a reversed kernel                         the input's gradient (backward_data)
///   features in dimension 0, the batch's      the kernel's gradient (backward_weights)
///   everything else                           forward
/// Each computes the very same sums.
std::vector<ConvolutionKind> convolution_kinds(const ConvolutionViews& views,
                                               const ConvolutionAttributes& attributes);

/// The node as a convolution of this kind; nothing where the attributes do not fit. It may still be
/// refused by make_convolution.
std::optional<ConvolutionSpec> convolution_spec(ConvolutionKind kind, const ConvolutionViews& views,
                                                const ConvolutionAttributes& attributes);

/// What the windows of a forward convolution over two spatial dimensions see of x, which lies
/// channels-last.
PatchShape patch_shape_of(const ConvolutionSpec& spec);

}    // namespace slipway
