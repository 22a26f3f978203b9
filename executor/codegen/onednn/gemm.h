#pragma once

#include "executor/codegen/kernels/view.h"
#include "executor/codegen/onednn/library_kernel.h"

namespace slipway::onednn {

/// One product of matrices in f32, as they lie or transposed, by the library's routine that brings
/// blocks of both operands into buffers of its own first; these it takes from the heap, so a
/// worker's first calls fault in a few pages. The views are usable (matmul.cpp) and have two
/// dimensions. `adds`: to what the result holds.
LibraryKernel make_gemm(const View& lhs, const View& rhs, const View& result, bool adds);

}    // namespace slipway::onednn
