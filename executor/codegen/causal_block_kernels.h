#pragma once

#include <cstddef>
#include <vector>

#include "executor/codegen/loops/loop_kernel.h"
#include "executor/codegen/triangular_analysis.h"

namespace slipway {

/// A loop kernel over square matrices [..., n, n] that need no more than the causal blocks: the
/// last loop walks a row, `row_loop` the rows. Its loops are not joined yet.
struct CausalBlockRequest {
    const LoopKernel& kernel;
    std::size_t row_loop = 0;
    /// Positions of element stores whose elements beyond the causal blocks must be 0; those of the
    /// others are left as they are.
    std::vector<std::size_t> zeroed = {};
};

/// Kernels that do the same one after the other, over the same buffers, each with the scratch
/// memory of its own plan: one for each block of rows, which ends with the causal block, and one
/// for the zeros beyond it.
std::vector<LoopKernel> causal_block_kernels(const CausalBlockRequest& request);

}    // namespace slipway
