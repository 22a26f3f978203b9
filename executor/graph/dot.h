#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "executor/graph/tensor.h"

namespace slipway {

/// Nodes that are drawn in one frame, by its number; the others stand free.
using DotFrames = std::unordered_map<const Node*, std::size_t>;

/// The graph in Graphviz's DOT language: a node for each operation with its op, shape, placement
/// and attributes (those per core are filled), an edge for each operand, an oval for each output,
/// a dashed edge from an output to the input whose memory it takes over. The same for equal graphs.
std::string print_dot(const Graph& graph, const DotFrames& frames = {});

}    // namespace slipway
