#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "executor/graph/node.h"
#include "executor/graph/ops.h"
#include "executor/passes/narrow.h"
#include "executor/passes/passes.h"
#include "executor/passes/rewrite.h"

// Two passes over the graph. The first gives every product bf16 operands and widens its result for
// its users, but for gradients of weights, which stay f32 from the product's own sums to the
// optimizer. The second finds values that some product wants in bf16 anyway and lets all users read
// that copy: half the memory to write, keep and read. Conversions are placed below views, so that
// the kernel that computes a value writes it narrow itself.
namespace slipway {

namespace {

using Nodes = std::unordered_set<const Node*>;

constexpr DType narrow = DType::bf16;

bool is_view(OpCode op) {
    constexpr std::array views{OpCode::reshape, OpCode::transpose, OpCode::slice, OpCode::reverse};
    return std::ranges::find(views, op) != views.end();
}

bool is_product(const Node& node) {
    return (node.op == OpCode::dot_general || node.op == OpCode::convolution) &&
           std::ranges::all_of(node.operands,
                               [](const Tensor& x) { return x.dtype() == DType::f32; });
}

bool moves_elements(OpCode op) {
    return is_view(op) || op == OpCode::concatenate;
}

/// What only moves elements, moving the narrow ones below the widening.
Tensor moved_narrow(const Tensor& x, const std::vector<Tensor>& widened) {
    std::vector<Tensor> narrow_operands;
    for (const Tensor& operand : widened)
        narrow_operands.push_back(operand.node().operands[0]);
    return convert(with_operands(x, std::move(narrow_operands)), DType::f32);
}

/// x in the narrow type. Views go on top of the conversion, so that whatever computes x writes the
/// narrow numbers itself.
Tensor narrowed(const Tensor& x) {
    if (is_widened(x)) return x.node().operands[0];
    if (!is_view(x.node().op)) return convert(x, narrow);
    return with_operands(x, {narrowed(x.node().operands[0])});
}

/// Whether a user's result is that operand, moved or with something added.
bool passes_on(const Node& user, std::size_t operand) {
    return is_view(user.op) || user.op == OpCode::add ||
           (user.op == OpCode::scatter_add && operand == 0);
}

/// Products whose value goes nowhere but into sums over the cores: gradients of weights, which
/// stay f32 from the product's own sums to the optimizer.
Nodes gradients_of_weights(const Graph& graph) {
    const std::vector<Tensor> order = topological_order(graph);
    Nodes elsewhere;
    for (const Tensor& output : graph.outputs)
        elsewhere.insert(output.get());
    for (auto user = order.rbegin(); user != order.rend(); ++user) {
        const Node& node = user->node();
        if (node.op == OpCode::all_reduce) continue;
        const bool only_to_sums = !elsewhere.contains(user->get());
        for (std::size_t i = 0; i < node.operands.size(); ++i)
            if (!only_to_sums || !passes_on(node, i)) elsewhere.insert(node.operands[i].get());
    }
    Nodes found;
    for (const Tensor& tensor : order)
        if (is_product(tensor.node()) && !elsewhere.contains(tensor.get()))
            found.insert(tensor.get());
    return found;
}

Tensor make_product(const Tensor& old, const std::vector<Tensor>& operands, DType result) {
    if (const auto* dot = std::get_if<DotAttributes>(&old.node().attributes)) {
        DotAttributes attributes = *dot;
        attributes.result = result;
        return dot_general(narrowed(operands[0]), narrowed(operands[1]), attributes);
    }
    auto attributes = std::get<ConvolutionAttributes>(old.node().attributes);
    attributes.result = result;
    return convolution(narrowed(operands[0]), narrowed(operands[1]), attributes);
}

/// Every product over narrow operands; its result narrow too, and widened for its users.
Graph narrow_products(const Graph& graph) {
    const Nodes kept_wide = gradients_of_weights(graph);
    std::unordered_map<const Node*, Tensor> replacement;
    for (const Tensor& old : topological_order(graph)) {
        std::vector<Tensor> operands;
        for (const Tensor& operand : old.node().operands)
            operands.push_back(replacement.at(operand.get()));
        Tensor current = old;
        if (is_product(old.node())) {
            const bool stays_wide = kept_wide.contains(old.get());
            current = make_product(old, operands, stays_wide ? DType::f32 : narrow);
            if (!stays_wide) current = convert(current, DType::f32);
        } else if (moves_elements(old.node().op) && std::ranges::all_of(operands, is_widened)) {
            current = moved_narrow(old, operands);
        } else if (!operands.empty()) {
            current = with_operands(old, std::move(operands));
        }
        replacement.emplace(old.get(), std::move(current));
    }
    Graph result{graph.inputs, {}, graph.donations};
    for (const Tensor& output : graph.outputs)
        result.outputs.push_back(replacement.at(output.get()));
    return result;
}

/// Values that are read as codes, moved or not.
Nodes code_values(const Graph& graph) {
    Nodes found;
    const std::vector<Tensor> order = topological_order(graph);
    for (auto user = order.rbegin(); user != order.rend(); ++user) {
        const Node& node = user->node();
        if (!reads_codes(node) && !(moves_elements(node.op) && found.contains(user->get())))
            continue;
        for (const Tensor& operand : node.operands)
            found.insert(operand.get());
    }
    return found;
}

/// The values per core that are wanted narrow anyway.
Nodes narrowed_values(const Graph& graph) {
    const Nodes codes = code_values(graph);
    Nodes found;
    for (const Tensor& tensor : topological_order(graph)) {
        if (!is_narrowing(tensor.node())) continue;
        const Tensor& wide = tensor.node().operands[0];
        if (wide.node().op != OpCode::input && wide.node().placement == Placement::per_core &&
            !codes.contains(wide.get()))
            found.insert(wide.get());
    }
    return found;
}

/// Whoever else wants such a value widens the narrow one: half the memory to write, keep and read.
Graph share_narrow_values(const Graph& graph) {
    const Nodes shared = narrowed_values(graph);
    std::unordered_map<const Node*, Tensor> replacement, rounded;
    for (const Tensor& old : topological_order(graph)) {
        const Node& node = old.node();
        const bool keeps_wide = is_narrowing(node) || node.op == OpCode::all_reduce;
        std::vector<Tensor> operands;
        for (const Tensor& operand : node.operands) {
            const bool is_shared = shared.contains(operand.get()) && !keeps_wide;
            operands.push_back((is_shared ? rounded : replacement).at(operand.get()));
        }
        const Tensor current = operands.empty() ? old : with_operands(old, std::move(operands));
        replacement.emplace(old.get(), current);
        if (shared.contains(old.get()))
            rounded.emplace(old.get(), convert(convert(current, narrow), DType::f32));
    }
    Graph result{graph.inputs, {}, graph.donations};
    for (const Tensor& output : graph.outputs)
        result.outputs.push_back(replacement.at(output.get()));
    return result;
}

}    // namespace

Graph mix_precision(const Graph& graph) {
    return share_narrow_values(narrow_products(graph));
}

}    // namespace slipway
