#pragma once

#include <span>
#include <vector>

#include "executor/graph/tensor.h"

namespace slipway {

/// What an input or an output holds: one array when replicated, one per core otherwise.
using ReferenceValue = std::vector<Array>;

/// Runs a graph with the naive evaluators: slow, obvious, one core after the other. The judge of
/// every kernel.
/// inputs   by position, as Graph::inputs; a per_core input has `cores` arrays
/// returns  one ReferenceValue per output
/// errors   invalid_argument when the inputs do not fit the graph
std::vector<ReferenceValue> evaluate(const Graph& graph, std::span<const ReferenceValue> inputs,
                                     int cores);

}    // namespace slipway
