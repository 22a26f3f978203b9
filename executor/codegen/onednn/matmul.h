#pragma once

#include <optional>

#include "executor/codegen/kernels/view.h"
#include "executor/codegen/onednn/library_kernel.h"

namespace slipway {

/// Whether a [batch, rows, columns] view can be multiplied as it lies: one of the last two strides
/// is 1 and the other at least the extent beside it (a transposition is such a view).
bool is_matmul_operand(const View& view);

/// [batch, m, k] x [batch, k, n] -> [batch, m, n], f32: reads = both buffers, writes[0] = the dense
/// product.
/// returns nothing when the library does not take it: empty extents, other strides
std::optional<LibraryKernel> make_matmul(const View& lhs, const View& rhs, int workers);

}    // namespace slipway
