#pragma once

#include <memory>

#include "executor/graph/tensor.h"
#include "executor/program/program.h"

namespace slipway {

class KernelStore;

struct LowerOptions {
    int workers = 1;    ///< kernels keep state per worker
    int cores = 1;      ///< virtual cores that will run it
    /// Products that are batched over the cores are so by blocks of block_cores: for more cores,
    /// and for cores of several processes.
    bool in_blocks = false;
    /// Replicas run together only where that takes little memory. The bits are the same.
    bool saves_memory = false;
    /// Where loop kernels are compiled and kept; shared with all programs that run them. Null: a
    /// store of the program's own.
    std::shared_ptr<KernelStore> kernels = nullptr;
};

/// The program of a graph: every node in the stage of its placement, kernels chosen, buffers
/// placed. The graph is sound (graph/verify.h). Inputs, outputs and donations keep their positions.
/// errors  invalid_argument for what no program runs (f64)
Program lower(const Graph& graph, const LowerOptions& options);

}    // namespace slipway
