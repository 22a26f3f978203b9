#include "executor/codegen/joined_product.h"

#include "executor/codegen/node_views.h"

namespace slipway {

namespace {

/// Whether each core has it in memory of its own, or can keep it there.
bool is_kept(const Tensor& operand) {
    const Node& source = source_of(operand).node();
    return source.placement == Placement::per_core && source.op != OpCode::constant &&
           source.op != OpCode::iota && operand.dtype() == DType::f32;
}

}    // namespace

bool pays_to_join(const Tensor& all_reduce) {
    const Tensor& product = all_reduce.node().operands[0];
    const auto* attributes = std::get_if<DotAttributes>(&product.node().attributes);
    const bool adds = std::get<AllReduceAttributes>(all_reduce.node().attributes).reduction ==
                      Reduction::add;
    if (attributes == nullptr || !adds || product.dtype() != DType::f32) return false;
    if (!attributes->lhs_batching.empty()) return false;
    std::int64_t kept = 0;
    for (const Tensor& operand : product.node().operands) {
        if (!is_kept(operand)) return false;
        kept += operand.shape().element_count();
    }
    return kept > 0 && 2 * kept <= product.shape().element_count();
}

}    // namespace slipway
