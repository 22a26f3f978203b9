#pragma once

#include <optional>

#include "executor/codegen/kernels/view.h"
#include "executor/codegen/onednn/library_kernel.h"
#include "executor/tensor/dtype.h"

namespace slipway {

/// A product of matrices, or of many at once: [batch..., m, k] x [batch..., k, n] -> [batch..., m,
/// n]. All views have the same rank; an operand's batch extent 1 serves every result's.
struct MatmulSpec {
    View lhs, rhs, result;
    DType operands = DType::f32;
    DType results = DType::f32;
    /// Let the library choose how rhs lies: reads[1] is then what the kernel's packing makes of it.
    /// Means nothing where copies_operands.
    bool packs_rhs = false;
    /// The product is added to what the result holds; results in f32 only.
    bool adds = false;
};

/// Whether the last two dimensions of a view can be multiplied as they lie: one of their strides is
/// 1 and the other at least the extent beside it (a transposition is such a view).
bool is_matmul_operand(const View& view);

/// Whether the product is made by the library's routine that brings blocks of both operands into
/// buffers of its own: f32, one matrix each. They need not be packed then, nor lie well in the
/// caches. Measured inside a step, ms of all such products (rows x terms x columns), packed where
/// it paid / so:
///   BERT base, 512x768x768, 120 of them                     1590  1540    and 180 of packing
///   BERT base, 512x768x3072                                  818   796
///   GPT (384), 2048x384x384 and 384x1536                     640   612
///   gradients of weights: 384x2048x1536                      227   214
bool copies_operands(const MatmulSpec& spec);

/// Whether the library multiplies bf16 by the processor's tiles (AMX): eight times as fast as f32
/// or more, where AVX-512's instruction is twice as fast.
bool multiplies_bf16_in_tiles();

/// Whether the library multiplies bf16 on this processor (from AVX-512 on). Where it does not,
/// make_matmul widens the operands to f32, and products that add to their result do not exist.
bool multiplies_bf16();

/// Call: reads = both buffers, writes[0] = the product. Sums are kept in f32.
/// returns nothing when the library does not take it: empty extents, other strides or types
std::optional<LibraryKernel> make_matmul(const MatmulSpec& spec, int workers);

/// The same by executor/codegen/kernels/line_product.h, whose bits do not depend on the number of
/// rows: make_matmul takes it for few rows, several replicas of which may be many.
/// returns nothing where that does not apply
std::optional<LibraryKernel> make_line_product(const MatmulSpec& spec);

}    // namespace slipway
