#pragma once

#include <cstdint>
#include <vector>

#include "executor/reference/evaluate.h"
#include "executor/tensor/random.h"

namespace slipway {

/// A graph and values for its inputs, per_core ones for `cores` cores.
struct RandomGraph {
    Graph graph;
    std::vector<ReferenceValue> inputs;
    int cores = 2;
};

/// Some `node_count` random ops over a few inputs, rich in what passes look for: ones and zeros,
/// chains of transposes, reshapes and converts, the same expression twice. All floating values are
/// f64.
RandomGraph random_graph(RandomStream& random, int node_count);

}    // namespace slipway
