// The one way in which passes change a graph: operands before users, each node is offered with
// its operands rewritten, and what comes back takes its place. Nodes are immutable and shared,
// so a rewrite that changes nothing costs no copy, and old and new graph may share all they have
// in common. Shape and placement of a node must stay, which is checked here for all passes.
#include "executor/passes/rewrite.h"

#include <algorithm>

#include "api/base/check.h"
#include "executor/graph/node.h"
#include "executor/graph/node_map.h"

namespace slipway {

Graph rewrite_nodes(const Graph& graph, const NodeRewrite& rewrite) {
    const std::vector<Tensor> order = topological_order(graph);
    NodeMap<Tensor> replacement;
    for (const Tensor& old : order) {
        Tensor current = old;
        if (old.node().op != OpCode::input) {
            std::vector<Tensor> operands;
            operands.reserve(old.node().operands.size());
            for (const Tensor& operand : old.node().operands)
                operands.push_back(replacement.at(operand.get()));
            current = rewrite(with_operands(old, std::move(operands)));
            check(current.shape() == old.shape(), "a pass keeps a node's shape");
            check(current.node().placement == old.node().placement, "a pass keeps a placement");
        }
        replacement.insert(old.get(), std::move(current));
    }
    Graph result{graph.inputs, {}, graph.donations};
    for (const Tensor& output : graph.outputs)
        result.outputs.push_back(replacement.at(output.get()));
    return result;
}

std::optional<double> uniform_value(const Tensor& x) {
    const Node* node = x.get();
    while (node->op == OpCode::broadcast_in_dim)
        node = node->operands[0].get();
    if (node->op != OpCode::constant) return {};
    return std::get<ConstantAttributes>(node->attributes).value;
}

bool are_disjoint(const std::vector<WindowDimension>& window) {
    return std::ranges::all_of(window, [](const WindowDimension& w) {
        return w.stride >= (w.size - 1) * w.window_dilation + 1;
    });
}

}    // namespace slipway
