#pragma once

#include <array>

#include "executor/codegen/lowering.h"

/// Convolutions as products of patches: a matrix of what each window sees.
namespace slipway {

/// An image's or a kernel's dimensions by role (batch or output feature, feature, spatial...) ->
/// the first, spatial..., feature.
Dims channels_last(const Dims& layout);

/// Computes a convolution node, the gradient of an input among them, as a product of its input's
/// patches and its weights; false where the convolution primitive is better.
bool emit_product_of_patches(Lowering& lowering, const Tensor& tensor,
                             const std::array<PlacedValue, 2>& operands);

}    // namespace slipway
