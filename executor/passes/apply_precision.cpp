#include <unordered_map>

#include "executor/graph/node.h"
#include "executor/graph/ops.h"
#include "executor/passes/passes.h"
#include "executor/passes/rewrite.h"

namespace slipway {

namespace {

/// Every f32 value in bf16.
class AllNarrow {
public:
    explicit AllNarrow(const Graph& graph) : graph_(graph) {}

    Graph run() {
        for (const Tensor& x : topological_order(graph_))
            values_.emplace(x.get(), narrow_value(x));
        Graph result{graph_.leaves, {}, graph_.donations};
        for (const Tensor& output : graph_.outputs) {
            const Tensor& value = values_.at(output.get());
            const bool stays = output.node().op == OpCode::leaf;
            result.outputs.push_back(stays ? output : in_type(value, output.dtype()));
        }
        return result;
    }

private:
    static Tensor in_type(const Tensor& x, DType dtype) {
        return x.dtype() == dtype ? x : convert(x, dtype);
    }

    /// Ops over all cores sum in f32, and bits mean what they mean in f32.
    static bool stays_wide(OpCode op) {
        switch (op) {
            case OpCode::leaf:
            case OpCode::bitcast_convert:
            case OpCode::all_reduce:
            case OpCode::reduce_scatter:
            case OpCode::all_gather:
            case OpCode::composite:
                return true;
            default:
                return false;
        }
    }

    Tensor narrow_value(const Tensor& x) {
        const Node& node = x.node();
        // Results after the first keep their producer, which is not made narrow here.
        if (stays_wide(node.op) || node.op == OpCode::get_result || !node.more_shapes.empty()) {
            std::vector<Tensor> operands;
            for (const Tensor& operand : node.operands)
                operands.push_back(wide_operand(operand));
            const Tensor wide = with_operands(x, std::move(operands));
            wide_.emplace(x.get(), wide);
            return wide.dtype() == DType::f32 ? convert(wide, DType::bf16) : wide;
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

    Tensor wide_operand(const Tensor& operand) const {
        const auto known = wide_.find(operand.get());
        if (known != wide_.end() && operand.node().op != OpCode::leaf) return known->second;
        return in_type(values_.at(operand.get()), operand.dtype());
    }

    const Graph& graph_;
    std::unordered_map<const Node*, Tensor> values_, wide_;
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
