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

}    // namespace

bool pays_to_join(const Tensor& tensor) {
    const auto* attributes = std::get_if<DotAttributes>(&tensor.node().attributes);
    const bool is_product = attributes != nullptr && attributes->lhs_batching.empty();
    if (!is_product && !pays_to_join_gradient(tensor)) return false;
    std::int64_t kept_bytes = 0;
    for (const Tensor& operand : tensor.node().operands) {
        const bool is_bf16 = operand.dtype() == DType::bf16;
        if (!is_kept(operand) || (is_bf16 && multiplies_bf16_in_tiles())) return false;
        kept_bytes += operand.shape().byte_count();
    }
    return tensor.dtype() == DType::f32 && kept_bytes > 0 &&
           (!is_product || kept_bytes <= tensor.shape().byte_count());
}

bool is_scatter_of_cores(const Tensor& tensor) {
    const Node& node = tensor.node();
    return node.op == OpCode::scatter_add && is_kept(node.operands[1]) && is_kept(node.operands[2]);
}

}    // namespace slipway
