#pragma once

#include <optional>

#include "executor/codegen/onednn/convolution.h"
#include "executor/codegen/stacked_product.h"
#include "executor/graph/tensor.h"

namespace slipway {

/// Whether a node is the gradient of a convolution's weights that may pay to be made so: the
/// operands of a core take up to an eighth more memory than the gradient.
bool pays_to_join_gradient(const Tensor& tensor);

/// The gradient of a convolution's weights over all cores. Each core has dy and x, both
/// channels-last; by minimal filtering (filtered_gradient.h), or the matrices are all dy, and
/// what the windows of all cores see, where the positions of a core are at most half as many as the
/// output features, so that the time goes into writing the gradient.
/// spec    of one core, of the kind backward_weights
/// tensor  its node
/// returns nothing where neither pays, or the library does not take it
std::optional<StackedGradient> make_joined_gradient(const ConvolutionSpec& spec,
                                                    const Tensor& tensor, int cores, int workers);

}    // namespace slipway
