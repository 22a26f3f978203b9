#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/graph/tensor.h"

/// The passes, one file each; the pipeline is their table.
namespace slipway {

/// What a program calculates in. The inputs and outputs of its graph are f32 all the same.
enum class PrecisionPolicy : std::uint8_t {
    f32,
    bf16,    ///< products of bf16 values; everything else calculates, and every sum adds, in f32
    /// Every value is bf16, as with XLA_USE_BF16, but for sums over the cores, what is added to
    /// them over several batches, metrics (what nothing but a scalar output needs) and what is
    /// moved and then converted to integers.
    bf16_true
};

/// What the passes must know about the backend and the job.
struct PassOptions {
    /// Composites, and core ops that have a decomposition, that the backend takes whole.
    std::vector<std::string> claimed = {};
    PrecisionPolicy precision = PrecisionPolicy::f32;
};

/// Puts the decomposition in the place of every composite, and of every core op that has one
/// (batch_norm_*), but for those the backend claims.
Graph expand_composites(const Graph& graph, const PassOptions& options);

/// Converts what the precision wants in bf16. The copy of a replicated value is replicated: that of
/// a weight is made once per step, below all views of it, and serves forward and backward.
Graph apply_precision(const Graph& graph, const PassOptions& options);

/// The policy bf16. Inputs and outputs (weights, the optimizer's state), sums over the cores and
/// all operations but products stay f32; so do the gradients of weights. A value per core that a
/// product reads is rounded for all its users but conversions to integers: half the memory to
/// write, keep and read.
Graph mix_precision(const Graph& graph);

/// Products in their plainest form: a transpose of an operand goes into the product's dimensions,
/// and a transpose that swaps the two halves of a result swaps the operands instead.
Graph canonicalize_products(const Graph& graph, const PassOptions& options = {});

/// Calculates elementwise ops whose operands are all constants, or broadcasts of constants: one
/// scalar instead of an array. By the naive evaluators, so no bit changes.
Graph fold_constants(const Graph& graph, const PassOptions& options = {});

/// Local rules that leave every value as it is (the table in simplify_algebra.cpp): chains of
/// transpose, reshape, convert, broadcast; ops that do nothing; x * 1, x + 0. The one liberty:
/// -0 + 0 is 0, and becomes -0.
Graph simplify_algebra(const Graph& graph, const PassOptions& options = {});

/// Nodes with the same op, attributes, shape and operands become one. Inputs are never merged:
/// equal numbers today may differ tomorrow.
Graph merge_common(const Graph& graph, const PassOptions& options = {});

/// The mask of a value above a maximum pool's gradient goes below it, onto fewer elements: relu's
/// gradient becomes one of pooled values. Needs equal nodes merged.
Graph mask_pooled(const Graph& graph, const PassOptions& options = {});

/// The largest of relu(x + bias) is relu(largest x + bias): a maximum pool reads x, and bias and
/// relu are of pooled values. Its gradient goes by x too, where the mask is below the pool (after
/// mask_pooled), and the bias' gradient adds up what is scattered instead of where to. Bits change
/// in two cases: of two elements that only differ before the bias is added the larger one gets the
/// gradient, not the first; and the bias' gradient leaves zeros out of its sum.
Graph pool_first(const Graph& graph, const PassOptions& options = {});

/// A maximum pool of widened bf16 values reads the narrow ones, and so does its gradient where
/// windows share no element and it is rounded: half the memory to read and write, the same bits.
Graph narrow_pools(const Graph& graph, const PassOptions& options = {});

}    // namespace slipway
