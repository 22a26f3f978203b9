#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "executor/graph/tensor.h"

/// What a graph proves about the upper halves of square matrices, which lie in the last two
/// dimensions of a value: a causal mask leaves the lower ones.
namespace slipway {

/// Rows first..last-1 of a square matrix.
struct RowBlock {
    std::int64_t first = 0, last = 0;
};

/// The rows of a square matrix in the blocks that are computed at once. The elements of a block's
/// rows up to its last row's diagonal make its causal block: the lower triangle, and of the upper
/// one what is cheaper computed than cut off. One block where cutting does not pay.
std::vector<RowBlock> row_blocks(std::int64_t rows);

struct TriangularAnalysis {
    /// Zero above the diagonal, whatever the inputs are.
    std::unordered_set<const Node*> zero;
    /// Of more than one block, and nothing that is computed depends on what lies beyond the
    /// causal blocks: it may be left as it is.
    std::unordered_set<const Node*> unread;
};
TriangularAnalysis analyze_triangular(const Graph& graph);

/// Whether blocks of a dot_general are multiplied one by one where that leaves something out: in
/// f32. For bf16 with gaps between rows the library has but its slower kernel: gpt_small's products
/// of attention take 112 ms as a whole, 181 in four blocks.
bool is_product_cut(const Node& product);

/// The operand of a dot_general whose zeros above the diagonal the product leaves out. Leaving out
/// differs from multiplying where the other operand is not finite: what would be a NaN there is
/// none.
std::optional<std::size_t> operand_with_zeros(const Node& product,
                                              const TriangularAnalysis& triangular);

/// Whether the elements above the diagonal change nothing in a reduction along the rows.
bool is_neutral_above(const Tensor& x, Reduction reduction);

}    // namespace slipway
