// bf16_true: every value is bf16 but those that the policy names. Outputs are walked back to
// find what only a reported number needs (kept in f32), then each remaining node is made again
// over converted operands. A value that is only moved and then converted to integers keeps its
// type: token numbers above 256 have no bf16. For the policy bf16 the work is mix_precision's.
#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "executor/graph/node.h"
#include "executor/graph/ops.h"
#include "executor/passes/narrow.h"
#include "executor/passes/passes.h"
#include "executor/passes/rewrite.h"

namespace slipway {

namespace {

using Nodes = std::unordered_set<const Node*>;

bool only_moves(OpCode op) {
    constexpr std::array moves{OpCode::reshape, OpCode::transpose, OpCode::slice,
                               OpCode::broadcast_in_dim, OpCode::concatenate};
    return std::ranges::find(moves, op) != moves.end();
}

bool is_product(OpCode op) {
    return op == OpCode::dot_general || op == OpCode::convolution;
}

/// A loss or a count: a scalar, a sum over the cores that nothing is done to, or what each core
/// says of its samples. An update of weights or statistics is none of these.
bool is_reported(const Tensor& output) {
    return output.dims().empty() || output.node().op == OpCode::all_reduce ||
           output.node().placement == Placement::per_core;
}

/// What lies between the last products and reported outputs and leads nowhere else. 256 + 1 is 256
/// in bf16.
Nodes metric_nodes(const Graph& graph) {
    Nodes elsewhere, metrics;
    for (const Tensor& output : graph.outputs)
        if (!is_reported(output)) elsewhere.insert(output.get());
    const std::vector<Tensor> order = topological_order(graph);
    for (auto user = order.rbegin(); user != order.rend(); ++user) {
        const Node& node = user->node();
        if (!elsewhere.contains(user->get()) && !is_product(node.op)) {
            metrics.insert(user->get());
            continue;
        }
        for (const Tensor& operand : node.operands)
            elsewhere.insert(operand.get());
    }
    return metrics;
}

/// Sines and cosines of what no input is in, and all that makes these angles: 256 + 1 is 256 in
/// bf16, and an angle rounded by more than a radian has a sine of no meaning.
Nodes constant_angles(const Graph& graph) {
    Nodes constants, found;
    const std::vector<Tensor> order = topological_order(graph);
    for (const Tensor& x : order) {
        const Node& node = x.node();
        const bool is_constant =
            node.op != OpCode::input && std::ranges::all_of(node.operands, [&](const Tensor& y) {
                return constants.contains(y.get());
            });
        if (is_constant) constants.insert(x.get());
    }
    for (auto user = order.rbegin(); user != order.rend(); ++user) {
        const Node& node = user->node();
        const bool is_angle_function = node.op == OpCode::sine || node.op == OpCode::cosine;
        if (!constants.contains(user->get())) continue;
        if (is_angle_function) found.insert(user->get());
        if (!found.contains(user->get())) continue;
        for (const Tensor& operand : node.operands)
            found.insert(operand.get());
    }
    return found;
}

/// What one batch's sum over the cores is added to: the sum over the batches before it.
bool is_running_sum(const Node& node) {
    const auto is = [&](OpCode op) {
        return std::ranges::any_of(node.operands,
                                   [op](const Tensor& x) { return x.node().op == op; });
    };
    return node.op == OpCode::add && is(OpCode::input) && is(OpCode::all_reduce);
}

/// Every f32 value in bf16.
class AllNarrow {
public:
    explicit AllNarrow(const Graph& graph)
        : graph_(graph), metrics_(metric_nodes(graph)), angles_(constant_angles(graph)) {}

    Graph run() {
        for (const Tensor& x : topological_order(graph_))
            values_.emplace(x.get(), narrow_value(x));
        Graph result{graph_.inputs, {}, graph_.donations};
        for (const Tensor& output : graph_.outputs)
            result.outputs.push_back(output_value(output));
        return result;
    }

private:
    static Tensor in_type(const Tensor& x, DType dtype) {
        return x.dtype() == dtype ? x : convert(x, dtype);
    }

    /// What is there in f32 is not rounded on its way out.
    Tensor output_value(const Tensor& output) const {
        if (output.node().op == OpCode::input) return output;
        const auto wide = wide_.find(output.get());
        return wide != wide_.end() ? wide->second
                                   : in_type(values_.at(output.get()), output.dtype());
    }

    /// Ops over all cores sum in f32, and bits mean what they mean in f32.
    static bool stays_wide(OpCode op) {
        switch (op) {
            case OpCode::input:
            case OpCode::bitcast_convert:
            case OpCode::all_reduce:
            case OpCode::composite:
                return true;
            default:
                return false;
        }
    }

    Tensor narrow_value(const Tensor& x) {
        const Node& node = x.node();
        const bool is_metric = metrics_.contains(x.get()) && !node.operands.empty();
        if (is_metric || is_running_sum(node) || reads_codes(node) || angles_.contains(x.get())) {
            std::vector<Tensor> operands;
            for (const Tensor& operand : node.operands)
                operands.push_back(exact_operand(operand));
            return wide_value(x, std::move(operands));
        }
        // Results after the first keep their producer, which is not made narrow here.
        if (stays_wide(node.op) || node.op == OpCode::get_result || !node.more_shapes.empty()) {
            std::vector<Tensor> operands;
            for (const Tensor& operand : node.operands)
                operands.push_back(wide_operand(operand));
            return wide_value(x, std::move(operands));
        }
        std::vector<Tensor> operands;
        for (const Tensor& operand : node.operands)
            operands.push_back(values_.at(operand.get()));
        NodeRequest request{.op = node.op,
                            .attributes = node.attributes,
                            .operands = std::move(operands),
                            .result = node.shape,
                            .placement = node.placement};
        if (node.shape.dtype == DType::f32) request.result.dtype = DType::bf16;
        if (auto* dot = std::get_if<DotAttributes>(&request.attributes)) dot->result.reset();
        if (auto* product = std::get_if<ConvolutionAttributes>(&request.attributes))
            product->result.reset();
        return make_node(std::move(request));
    }

    /// Keeps x as it is, for those who want it so, and gives its bf16 form for all others.
    Tensor wide_value(const Tensor& x, std::vector<Tensor> operands) {
        const Tensor wide = with_operands(x, std::move(operands));
        wide_.emplace(x.get(), wide);
        return wide.dtype() == DType::f32 ? convert(wide, DType::bf16) : wide;
    }

    /// Without rounding what is there in f32: inputs and constants, moved or not.
    Tensor exact_operand(const Tensor& operand) {
        const Node& node = operand.node();
        if (node.operands.empty()) return operand;
        if (!only_moves(node.op) || wide_.contains(operand.get())) return wide_operand(operand);
        const auto known = exact_.find(operand.get());
        if (known != exact_.end()) return known->second;
        std::vector<Tensor> operands;
        for (const Tensor& moved : node.operands)
            operands.push_back(exact_operand(moved));
        return exact_.emplace(operand.get(), with_operands(operand, std::move(operands)))
            .first->second;
    }

    Tensor wide_operand(const Tensor& operand) const {
        const auto known = wide_.find(operand.get());
        if (known != wide_.end() && operand.node().op != OpCode::input) return known->second;
        return in_type(values_.at(operand.get()), operand.dtype());
    }

    const Graph& graph_;
    const Nodes metrics_, angles_;
    std::unordered_map<const Node*, Tensor> values_, wide_, exact_;
};

}    // namespace

Graph apply_precision(const Graph& graph, const PassOptions& options) {
    switch (options.precision) {
        case PrecisionPolicy::f32:
            return graph;
        case PrecisionPolicy::bf16:
            return mix_precision(graph);
        case PrecisionPolicy::bf16_true:
            return AllNarrow(graph).run();
    }
    return graph;
}

}    // namespace slipway
