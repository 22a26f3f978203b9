#pragma once

#include <array>

#include "executor/codegen/kernels/patches.h"
#include "executor/codegen/lowering.h"

/// Convolutions as products of patches: a matrix of what each window sees.
namespace slipway {

/// An image's or a kernel's dimensions by role (batch or output feature, feature, spatial...) ->
/// the first, spatial..., feature.
Dims channels_last(const Dims& layout);

/// Images that lie channels-last.
struct Images {
    DType dtype = DType::f32;
    BufferId buffer = 0;
};

/// The step that makes the matrix of patches; returns its buffer.
BufferId emit_patches(Lowering& lowering, const PatchShape& shape, const Images& images, int stage);

/// Computes a convolution node, the gradient of an input among them, as a product of its input's
/// patches and its weights; false where the convolution primitive is better.
bool emit_product_of_patches(Lowering& lowering, const Tensor& tensor,
                             const std::array<PlacedValue, 2>& operands);

}    // namespace slipway
