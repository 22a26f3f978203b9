#include <algorithm>

#include "executor/graph/node_map.h"
#include "executor/graph/op_table.h"
#include "executor/passes/passes.h"

namespace slipway {

namespace {

class Expansion {
public:
    Expansion(const Graph& graph, const PassOptions& options) : graph_(graph), options_(options) {}

    Graph run() {
        for (const Tensor& old : topological_order(graph_))
            results_.insert(old.get(), results_for(old));
        Graph expanded{graph_.inputs, {}, graph_.donations};
        for (const Tensor& output : graph_.outputs)
            expanded.outputs.push_back(results_.at(output.get())[0]);
        return expanded;
    }

    bool found_any() const { return found_any_; }

private:
    std::vector<Tensor> results_for(const Tensor& old) {
        const Node& node = old.node();
        if (node.op == OpCode::input) return {old};
        if (node.op == OpCode::get_result) {
            const std::vector<Tensor>& all = results_.at(node.operands[0].get());
            const auto index = std::size_t(std::get<GetResultAttributes>(node.attributes).index);
            if (all.size() > 1) return {all[index]};
        }
        std::vector<Tensor> operands;
        for (const Tensor& operand : node.operands)
            operands.push_back(results_.at(operand.get())[0]);
        const Tensor current = with_operands(old, std::move(operands));
        if (row_of(node.op).decompose == nullptr || is_claimed(node)) return {current};
        std::vector<Tensor> parts = row_of(node.op).decompose(current.node());
        // A part of a per-core composite that only looks at replicated operands would no longer be
        // a value per core, on which its users count.
        const bool fits = std::ranges::all_of(
            parts, [&](const Tensor& part) { return part.node().placement == node.placement; });
        if (!fits) return {current};
        found_any_ = true;
        return parts;
    }

    bool is_claimed(const Node& node) const {
        return std::ranges::find(options_.claimed, name_of(node)) != options_.claimed.end();
    }

    const Graph& graph_;
    const PassOptions& options_;
    NodeMap<std::vector<Tensor>> results_;    ///< those that take its place
    bool found_any_ = false;
};

}    // namespace

Graph expand_composites(const Graph& graph, const PassOptions& options) {
    Graph expanded = graph;
    // Decompositions may hold composites themselves, a few levels deep.
    for (bool again = true; again;) {
        Expansion expansion(expanded, options);
        Graph next = expansion.run();
        again = expansion.found_any();
        expanded = std::move(next);
    }
    return expanded;
}

}    // namespace slipway
