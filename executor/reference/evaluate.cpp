#include "executor/reference/evaluate.h"

#include <fmt/format.h>

#include <unordered_map>

#include "api/base/error.h"
#include "executor/graph/op_table.h"

namespace slipway {

namespace {

using Values = std::unordered_map<const Node*, ReferenceValue>;

std::size_t array_count(const Node& node, int cores) {
    return node.placement == Placement::per_core ? std::size_t(cores) : 1;
}

void require_fit(const Node& input, const ReferenceValue& value, std::size_t position, int cores) {
    if (value.size() != array_count(input, cores)) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("evaluate: input {} needs {} arrays on {} cores, got {}", position,
                                array_count(input, cores), cores, value.size()));
    }
    for (const Array& array : value) {
        if (!array.empty() && array.shape() == input.shape) continue;
        throw Error(
            ErrorCode::invalid_argument,
            fmt::format("evaluate: input {} is {}, got {}", position, to_string(input.shape),
                        array.empty() ? "nothing" : to_string(array.shape())));
    }
}

/// The operands' arrays as core `core` sees them: a replicated value is the same for all.
std::vector<Array> operands_on(const Node& node, const Values& values, std::size_t core) {
    std::vector<Array> arrays;
    for (const Tensor& operand : node.operands) {
        const ReferenceValue& value = values.at(operand.get());
        arrays.push_back(value.size() == 1 ? value[0] : value[core]);
    }
    return arrays;
}

ReferenceValue evaluate_node(const Node& node, const Values& values, int cores) {
    const OpRow& row = row_of(node.op);
    if (row.evaluate_over_cores != nullptr)
        return {row.evaluate_over_cores(node, values.at(node.operands[0].get()))};
    check(row.evaluate != nullptr, "every op but input can be evaluated");
    // A further result is calculated anew from what its producer reads.
    const Node& reader = node.op == OpCode::get_result ? node.operands[0].node() : node;
    ReferenceValue value;
    for (std::size_t core = 0; core < array_count(node, cores); ++core)
        value.push_back(row.evaluate(node, operands_on(reader, values, core)));
    return value;
}

}    // namespace

std::vector<ReferenceValue> evaluate(const Graph& graph, std::span<const ReferenceValue> inputs,
                                     int cores) {
    if (inputs.size() != graph.inputs.size()) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("evaluate: the graph has {} inputs, got {} values",
                                graph.inputs.size(), inputs.size()));
    }
    Values values;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        require_fit(graph.inputs[i].node(), inputs[i], i, cores);
        values.emplace(graph.inputs[i].get(), inputs[i]);
    }
    for (const Tensor& tensor : topological_order(graph)) {
        if (!values.contains(tensor.get()))
            values.emplace(tensor.get(), evaluate_node(tensor.node(), values, cores));
    }
    std::vector<ReferenceValue> outputs;
    for (const Tensor& output : graph.outputs)
        outputs.push_back(values.at(output.get()));
    return outputs;
}

}    // namespace slipway
