#pragma once

#include "executor/graph/tensor.h"
#include "executor/program/program.h"

namespace slipway {

struct LowerOptions {
    int workers = 1;    ///< kernels keep state per worker
};

/// The program of a graph: every node in the stage of its placement, kernels chosen, buffers
/// placed. The graph is sound (graph/verify.h). Leaves, outputs and donations keep their positions.
/// errors  invalid_argument for what no program runs (f64)
Program lower(const Graph& graph, const LowerOptions& options);

}    // namespace slipway
