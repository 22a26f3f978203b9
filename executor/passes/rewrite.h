#pragma once

#include <functional>
#include <optional>

#include "executor/graph/tensor.h"

namespace slipway {

/// What takes a node's place. It is given the node with its operands rewritten already, and returns
/// the node itself to keep it.
using NodeRewrite = std::function<Tensor(const Tensor& node)>;

/// Rebuilds the graph, operands before users. Inputs stay the very nodes they are, and positions of
/// inputs, outputs and donations stay.
Graph rewrite_nodes(const Graph& graph, const NodeRewrite& rewrite);

/// The one number that all elements of x have, when x is a constant or a broadcast of one.
std::optional<double> uniform_value(const Tensor& x);

/// Whether no element is in two of the windows.
bool are_disjoint(const std::vector<WindowDimension>& window);

}    // namespace slipway
