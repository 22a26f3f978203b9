#pragma once

#include "executor/codegen/onednn/matmul.h"

namespace slipway {

/// The sum of one product for each core, one matrix each, results in f32: that of core 0, then that
/// of core 1 added to it, and so on.
struct SumOfMatmuls {
    /// Call: reads = every core's lhs, then every core's rhs; writes[0] = the sum, writes[1] =
    /// scratch memory for all workers. Computes begin..end of `elements`, whose bits do not depend
    /// on how they are cut.
    LibraryKernel kernel;
    std::int64_t elements = 0;    ///< blocks of the result's rows
};

/// `spec` is that of one core's product; its packs_rhs and adds mean nothing.
/// returns nothing when the library does not take it
std::optional<SumOfMatmuls> make_sum_of_matmuls(const MatmulSpec& spec, int workers);

}    // namespace slipway
