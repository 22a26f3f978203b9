#pragma once

#include <array>
#include <cstdint>

#include "executor/codegen/kernels/view.h"
#include "executor/codegen/onednn/library_kernel.h"
#include "executor/tensor/dtype.h"

namespace slipway::onednn {

/// Where a product's operands and result lie in their buffers.
struct ProductViews {
    std::array<View, 2> reads;
    View result;
};

/// A product of bf16 made of one of f32 over the same views: for machines whose library has no bf16
/// kernels. Operands and a bf16 result pass through scratch memory as f32.
LibraryKernel widened(const LibraryKernel& product, const ProductViews& views, DType result);

}    // namespace slipway::onednn
