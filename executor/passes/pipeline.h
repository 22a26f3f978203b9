#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "executor/graph/tensor.h"

namespace slipway {

/// A rewrite of a graph into one that computes the same. Leaves, outputs and donations keep their
/// positions.
struct Pass {
    std::string_view name;
    Graph (*rewrite)(const Graph& graph);
};

/// The passes in the order they run.
std::span<const Pass> pipeline();

/// What one pass did.
struct PassRecord {
    std::string_view name;
    double seconds = 0;
    std::size_t nodes_before = 0, nodes_after = 0;
};

/// The graph to run, and how it came about.
struct Optimized {
    Graph graph;
    std::vector<PassRecord> passes;
};

/// Runs the pipeline: each pass timed, and the graph verified at the start and after each.
/// skip    names of passes to leave out, to find the one at fault
/// errors  invalid_argument when `skip` names no pass
Optimized optimize(const Graph& graph, std::span<const std::string> skip = {},
                   const Clock& clock = system_clock());

}    // namespace slipway
