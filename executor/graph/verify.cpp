#include "executor/graph/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "api/base/check.h"
#include "api/base/error.h"
#include "executor/graph/op_table.h"
#include "executor/graph/print.h"

namespace slipway {

namespace {

using Problems = std::vector<std::string>;

/// A graph under examination.
struct Subject {
    const Graph& graph;
    std::vector<Tensor> order;
    const NodeSet& known;    ///< nodes that need no further look
};

std::string described(const Node& node) {
    return fmt::format("{} {} {}", name_of(node), to_string(node.shape),
                       print_attributes(node.attributes));
}

NodeRequest request_of(const Node& node) {
    return {.op = node.op,
            .attributes = node.attributes,
            .operands = node.operands,
            .result = node.shape,
            .placement = node.placement};
}

/// Inputs are bound by position, so each is there once and nothing else is.
void inputs_are_distinct_inputs(const Subject& subject, Problems& problems) {
    const Graph& graph = subject.graph;
    std::unordered_set<const Node*> seen;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        const Node& node = graph.inputs[i].node();
        if (node.op != OpCode::input)
            problems.push_back(fmt::format("input {} is no input: {}", i, described(node)));
        if (!seen.insert(&node).second)
            problems.push_back(fmt::format("input {} is listed twice: {}", i, described(node)));
    }
}

void reachable_inputs_are_listed(const Subject& subject, Problems& problems) {
    const std::vector<Tensor>& inputs = subject.graph.inputs;
    for (const Tensor& tensor : subject.order) {
        if (tensor.node().op != OpCode::input) continue;
        if (std::ranges::find(inputs, tensor) == inputs.end())
            problems.push_back("an input in use is not listed: " + described(tensor.node()));
    }
}

/// Each node is what make_node would make of its parts.
void nodes_are_well_made(const Subject& subject, Problems& problems) {
    for (const Tensor& tensor : subject.order) {
        if (subject.known.contains(tensor.get())) continue;
        const Node& node = tensor.node();
        try {
            // The Error is the answer of the op's own rules, told here as a broken law.
            const Tensor again = make_node(request_of(node));
            if (again.shape() != node.shape)
                problems.push_back(fmt::format("shape should be {}: {}", to_string(again.shape()),
                                               described(node)));
            if (again.node().more_shapes != node.more_shapes)
                problems.push_back("shapes of further results are wrong: " + described(node));
            if (again.node().placement != node.placement)
                problems.push_back("placement is wrong: " + described(node));
            if (again.node().hash != node.hash)
                problems.push_back("hash is wrong: " + described(node));
        } catch (const Error& error) {
            problems.push_back(error.what());
        }
    }
}

void there_are_outputs(const Subject& subject, Problems& problems) {
    if (subject.graph.outputs.empty()) problems.push_back("there is no output");
}

void donations_fit(const Subject& subject, Problems& problems) {
    const Graph& graph = subject.graph;
    std::unordered_set<std::size_t> outputs, inputs;
    for (const auto& [output, input] : graph.donations) {
        if (output >= graph.outputs.size() || input >= graph.inputs.size()) {
            problems.push_back(fmt::format("donation of input {} to output {}: there are {} and {}",
                                           input, output, graph.inputs.size(),
                                           graph.outputs.size()));
            continue;
        }
        const Node& from = graph.inputs[input].node();
        const Node& to = graph.outputs[output].node();
        if (from.shape != to.shape)
            problems.push_back(fmt::format("donation of input {} to output {}: {} is not {}", input,
                                           output, to_string(from.shape), to_string(to.shape)));
        if (from.placement != Placement::replicated || to.placement != Placement::replicated)
            problems.push_back(
                fmt::format("donation of input {} to output {}: not replicated", input, output));
        if (!outputs.insert(output).second || !inputs.insert(input).second)
            problems.push_back(
                fmt::format("donation of input {} to output {}: one is taken", input, output));
    }
}

using Law = void (*)(const Subject& subject, Problems& problems);
constexpr std::array<Law, 5> laws{inputs_are_distinct_inputs, reachable_inputs_are_listed,
                                  nodes_are_well_made, there_are_outputs, donations_fit};

bool has_empty_handle(const Graph& graph) {
    const auto is_empty = [](const Tensor& tensor) { return tensor.empty(); };
    return std::ranges::any_of(graph.inputs, is_empty) ||
           std::ranges::any_of(graph.outputs, is_empty);
}

Subject subject_of(const Graph& graph, const NodeSet& known) {
    return {graph, has_empty_handle(graph) ? std::vector<Tensor>() : topological_order(graph),
            known};
}

Problems problems_of(const Subject& subject) {
    if (has_empty_handle(subject.graph)) return {"an input or an output is an empty handle"};
    Problems problems;
    for (const Law law : laws)
        law(subject, problems);
    return problems;
}

}    // namespace

std::vector<std::string> broken_laws(const Graph& graph) {
    return problems_of(subject_of(graph, {}));
}

void verify(const Graph& graph, std::string_view after) {
    verify(graph, after, {});
}

NodeSet verify(const Graph& graph, std::string_view after, const NodeSet& known) {
    const Subject subject = subject_of(graph, known);
    const Problems problems = problems_of(subject);
    check(problems.empty(),
          problems.empty() ? std::string()
                           : fmt::format("a graph is sound after {}: {}", after, problems.front()));
    NodeSet nodes;
    for (const Tensor& tensor : subject.order)
        nodes.insert(tensor.get(), {});
    return nodes;
}

}    // namespace slipway
