#include "executor/graph/hash.h"
#include "executor/graph/node_map.h"
#include "executor/graph/tensor.h"

namespace slipway {

namespace {

/// A node on the way down, and how many of its operands have been visited.
struct Visit {
    const Tensor* tensor;
    std::size_t operands_done = 0;
};

/// Depth first, operands in order; a loop and not a recursion, as graphs may be deep.
void append_reachable(const Tensor& root, NodeSet& seen, std::vector<Tensor>& order) {
    if (!seen.insert(root.get(), {})) return;
    std::vector<Visit> path{{&root}};
    while (!path.empty()) {
        Visit& top = path.back();
        const std::vector<Tensor>& operands = top.tensor->node().operands;
        if (top.operands_done == operands.size()) {
            order.push_back(*top.tensor);
            path.pop_back();
            continue;
        }
        const Tensor& operand = operands[top.operands_done++];
        if (seen.insert(operand.get(), {})) path.push_back({&operand});
    }
}

}    // namespace

std::vector<Tensor> topological_order(std::span<const Tensor> roots) {
    NodeSet seen;
    std::vector<Tensor> order;
    for (const Tensor& root : roots)
        append_reachable(root, seen, order);
    return order;
}

std::vector<Tensor> topological_order(const Graph& graph) {
    std::vector<Tensor> roots = graph.inputs;
    roots.insert(roots.end(), graph.outputs.begin(), graph.outputs.end());
    return topological_order(roots);
}

Hash128 hash_of(const Graph& graph) {
    const std::vector<Tensor> order = topological_order(graph);
    NodeMap<std::size_t> position;
    Hasher hasher;
    hasher.add(std::uint64_t(graph.inputs.size()));
    hasher.add(std::uint64_t(order.size()));
    // A node's own hash does not tell inputs of one shape apart; the operands' positions do.
    for (const Tensor& tensor : order) {
        position.insert(tensor.get(), position.size());
        hasher.add(tensor.node().hash);
        for (const Tensor& operand : tensor.node().operands)
            hasher.add(std::uint64_t(position.at(operand.get())));
    }
    hasher.add(std::uint64_t(graph.outputs.size()));
    for (const Tensor& output : graph.outputs)
        hasher.add(std::uint64_t(position.at(output.get())));
    for (const Graph::Donation& donation : graph.donations) {
        hasher.add(std::uint64_t(donation.output));
        hasher.add(std::uint64_t(donation.input));
    }
    return hasher.finish();
}

}    // namespace slipway
