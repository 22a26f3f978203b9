#include "executor/codegen/batched_product.h"

#include "executor/codegen/joined_gradient.h"
#include "executor/codegen/node_views.h"
#include "executor/codegen/onednn/matmul.h"

namespace slipway {

namespace {

/// Whether each core has it in memory of its own, or can keep it there.
bool is_kept(const Tensor& operand) {
    const Node& source = source_of(operand).node();
    return source.placement == Placement::per_core && source.op != OpCode::constant &&
           source.op != OpCode::iota;
}

/// What is summed: a core's rows.
std::int64_t rows_of(const Tensor& product, const DotAttributes& attributes) {
    std::int64_t rows = 1;
    for (const std::int64_t i : attributes.lhs_contracting)
        rows *= product.node().operands[0].dims()[std::size_t(i)];
    return rows;
}

/// Tiles multiply many rows of one core as fast as those of all. Eight cores with tiles, ms of CPU
/// time of all gradients, each core's own / joined: MLP-Mixer, 256 rows 115 + 8 of sums / 136.
/// ms of a step: 64 rows 98.7 / 66.3; BERT-small, 128 rows 45.1 / 30.7; perceptron, 2 rows
/// 0.95 / 0.30.
bool are_few_in_tiles(const Tensor& product, const DotAttributes& attributes) {
    constexpr std::int64_t rows_max = 128;
    const bool is_in_tiles =
        product.node().operands[0].dtype() == DType::bf16 && multiplies_bf16_in_tiles();
    return !is_in_tiles || rows_of(product, attributes) <= rows_max;
}

}    // namespace

bool pays_to_join(const Tensor& tensor) {
    const auto* attributes = std::get_if<DotAttributes>(&tensor.node().attributes);
    const bool is_product = attributes != nullptr && attributes->lhs_batching.empty();
    if (!is_product && !pays_to_join_gradient(tensor)) return false;
    std::int64_t kept_bytes = 0;
    for (const Tensor& operand : tensor.node().operands) {
        if (!is_kept(operand)) return false;
        kept_bytes += operand.shape().byte_count();
    }
    return tensor.dtype() == DType::f32 && kept_bytes > 0 &&
           (!is_product ||
            (kept_bytes <= tensor.shape().byte_count() && are_few_in_tiles(tensor, *attributes)));
}

bool is_scatter_of_cores(const Tensor& tensor) {
    const Node& node = tensor.node();
    return node.op == OpCode::scatter_add && is_kept(node.operands[1]) && is_kept(node.operands[2]);
}

}    // namespace slipway
