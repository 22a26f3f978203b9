#include "executor/engine/shape_difference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <variant>

#include "api/base/check.h"

namespace slipway {

namespace {

using One = GraphShapes::One;

constexpr std::size_t named_max = 8;    // differences that are spelled out

std::size_t distance(std::size_t one, std::size_t other) {
    return one > other ? one - other : other - one;
}

std::size_t differing(const std::vector<One>& one, const std::vector<One>& other) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i)
        count += one[i].shape != other[i].shape || one[i].placement != other[i].placement;
    return count;
}

/// By importance; compared in this order.
std::array<std::size_t, 5> cost(const GraphShapes& wanted, const GraphShapes& known) {
    return {distance(wanted.inputs.size(), known.inputs.size()),
            differing(wanted.inputs, known.inputs),
            distance(wanted.outputs.size(), known.outputs.size()),
            differing(wanted.outputs, known.outputs), distance(wanted.nodes, known.nodes)};
}

std::string_view to_text(Placement placement) {
    return placement == Placement::per_core ? "per core" : "replicated";
}

std::string change(const One& now, const One& before) {
    if (now.shape == before.shape) {
        return fmt::format("{} is {}, was {}", now.name, to_text(now.placement),
                           to_text(before.placement));
    }
    return fmt::format("{} is {}, was {}", now.name, to_string(now.shape), to_string(before.shape));
}

void append_changes(std::vector<std::string>& changes, const std::vector<One>& now,
                    const std::vector<One>& before) {
    for (std::size_t i = 0; i < std::min(now.size(), before.size()); ++i)
        if (now[i].shape != before[i].shape || now[i].placement != before[i].placement)
            changes.push_back(change(now[i], before[i]));
}

std::string joined(std::vector<std::string> changes) {
    const std::size_t count = changes.size();
    changes.resize(std::min(count, named_max));
    std::string text = fmt::format("{}", fmt::join(changes, "; "));
    if (count > named_max) text += fmt::format("; and {} more", count - named_max);
    return text;
}

}    // namespace

GraphShapes shapes_of(const Graph& graph) {
    GraphShapes shapes;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        const Node& node = graph.inputs[i].node();
        const auto* attributes = std::get_if<InputAttributes>(&node.attributes);
        const bool named = attributes != nullptr && !attributes->name.empty();
        shapes.inputs.push_back(
            {named ? attributes->name : fmt::format("input {}", i), node.shape, node.placement});
    }
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
        const Node& node = graph.outputs[i].node();
        shapes.outputs.push_back({fmt::format("output {}", i), node.shape, node.placement});
    }
    shapes.nodes = topological_order(graph).size();
    return shapes;
}

std::size_t nearest_shapes(const GraphShapes& wanted, std::span<const GraphShapes* const> known) {
    check(!known.empty(), "there is a graph to compare with");
    const auto nearest = std::ranges::min_element(
        known, {}, [&wanted](const GraphShapes* each) { return cost(wanted, *each); });
    return std::size_t(nearest - known.begin());
}

std::string difference(const GraphShapes& wanted, const GraphShapes& known) {
    std::vector<std::string> changes;
    if (wanted.inputs.size() != known.inputs.size()) {
        changes.push_back(
            fmt::format("it has {} inputs, was {}", wanted.inputs.size(), known.inputs.size()));
    }
    append_changes(changes, wanted.inputs, known.inputs);
    if (!changes.empty()) return joined(std::move(changes));
    if (wanted.outputs.size() != known.outputs.size()) {
        changes.push_back(
            fmt::format("it has {} outputs, was {}", wanted.outputs.size(), known.outputs.size()));
    }
    append_changes(changes, wanted.outputs, known.outputs);
    if (!changes.empty()) return joined(std::move(changes));
    return fmt::format("the shapes are the same, but the computation differs: {} nodes, was {}",
                       wanted.nodes, known.nodes);
}

}    // namespace slipway
