#pragma once

#include <span>
#include <string>
#include <vector>

#include "executor/graph/tensor.h"

namespace slipway {

/// What a graph is called with and gives: enough to say why it is not one that is known.
struct GraphShapes {
    struct One {
        std::string name;    ///< of an input; "output 3"
        Shape shape;
        Placement placement = Placement::replicated;
        bool operator==(const One&) const = default;
    };
    std::vector<One> inputs;
    std::vector<One> outputs;
    std::size_t nodes = 0;
};

GraphShapes shapes_of(const Graph& graph);

/// Which of `known` differs least from `wanted`: in the number of inputs, then in their shapes,
/// then in the outputs, then in the number of nodes; of equals the first. `known` is not empty.
std::size_t nearest_shapes(const GraphShapes& wanted, std::span<const GraphShapes* const> known);

/// In what `wanted` differs, for people: "features is f32[16,784], was f32[32,784]".
std::string difference(const GraphShapes& wanted, const GraphShapes& known);

}    // namespace slipway
