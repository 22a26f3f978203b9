#include <algorithm>

#include "executor/graph/ops.h"
#include "executor/passes/narrow.h"
#include "executor/passes/passes.h"
#include "executor/passes/rewrite.h"

namespace slipway {

namespace {

/// A pool that chooses among elements: which one is chosen, no widening changes.
Tensor pooled_narrow(const Tensor& x) {
    const auto& pool = std::get<ReduceWindowAttributes>(x.node().attributes);
    const Tensor& operand = x.node().operands[0];
    if (pool.reduction == Reduction::add || !is_widened(operand)) return x;
    return convert(reduce_window(operand.node().operands[0], pool.window, pool.reduction),
                   x.dtype());
}

/// What is rounded already, and what can be before it is scattered: of elements that get one term
/// at most, rounded terms are rounded sums.
Tensor rounded_before(const Tensor& x) {
    if (!is_narrowing(x.node())) return x;
    if (is_widened(x.node().operands[0])) return x.node().operands[0].node().operands[0];
    const Node& scatter = x.node().operands[0].node();
    if (scatter.op != OpCode::select_and_scatter || !is_widened(scatter.operands[0])) return x;
    const auto& window = std::get<SelectAndScatterAttributes>(scatter.attributes).window;
    if (!are_disjoint(window)) return x;
    return select_and_scatter(scatter.operands[0].node().operands[0],
                              convert(scatter.operands[1], x.dtype()), window);
}

}    // namespace

Graph narrow_pools(const Graph& graph, const PassOptions&) {
    return rewrite_nodes(graph, [](const Tensor& x) {
        if (x.node().op == OpCode::reduce_window) return pooled_narrow(x);
        return x.node().op == OpCode::convert ? rounded_before(x) : x;
    });
}

}    // namespace slipway
