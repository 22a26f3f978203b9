#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "executor/graph/tensor.h"
#include "executor/passes/passes.h"

namespace slipway {

/// A rewrite of a graph into one that computes the same. Inputs, outputs and donations keep their
/// positions.
struct Pass {
    std::string_view name;
    Graph (*rewrite)(const Graph& graph, const PassOptions& options);
};

/// The passes in the order they run.
std::span<const Pass> pipeline();

/// What one pass did.
struct PassRecord {
    std::string_view name;
    double seconds = 0;
    std::size_t nodes_before = 0, nodes_after = 0;
    std::string text = {};    ///< the graph after it, when dumps are asked for
};

/// The graph to run, and how it came about.
struct Optimized {
    Graph graph;
    std::vector<PassRecord> passes;
};

struct OptimizeOptions {
    PassOptions passes = {};
    std::vector<std::string> skip =
        {};               ///< names of passes to leave out, to find the one at fault
    bool dump = false;    ///< keep the text after each pass
};

/// Runs the pipeline: each pass timed, and the graph verified at the start and after each.
/// errors  invalid_argument when `skip` names no pass
Optimized optimize(const Graph& graph, const OptimizeOptions& options = {},
                   const Clock& clock = system_clock());

}    // namespace slipway
