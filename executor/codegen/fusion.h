#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "executor/codegen/iteration_space.h"
#include "executor/graph/tensor.h"

/// Which nodes run together in one loop kernel.
namespace slipway {

struct Analysis;

/// Nodes that share one iteration space of `elements`, in row-major order of their own dims: a
/// node of the space has an element for each, a node of its rows one for each row.
struct Cluster {
    enum class Role : std::uint8_t {
        element,          ///< elementwise over the whole space
        row,              ///< elementwise over the rows
        row_reduction,    ///< of the space to its rows
        column_reduction
    };
    int stage = 0;
    std::int64_t elements = 0;
    /// The strides of all dimensions of all members in the space, ascending, from 1 to elements:
    /// each divides the next.
    std::vector<std::int64_t> strides;
    std::int64_t row_elements = 0;      ///< 0: there are no rows
    std::vector<SpaceRange> columns;    ///< what column reductions reduce; empty: there are none
    std::vector<Tensor> members;        ///< operands before users
};

struct Fusion {
    std::vector<Cluster> clusters;
    std::unordered_map<const Node*, std::size_t> cluster_of;
    std::unordered_map<const Node*, Cluster::Role> roles;
    /// Computed again by every cluster that reads it: cheap, and nobody else does.
    std::unordered_set<const Node*> inlined;
    /// Members that somebody outside their cluster reads.
    std::unordered_set<const Node*> stored;
    /// All nodes that are computed, clusters' members side by side, operands before users.
    std::vector<Tensor> order;

    bool is_member(const Tensor& tensor) const { return cluster_of.contains(tensor.get()); }
};

/// Puts every elementwise node and every reduction into a cluster, or inlines it. Clusters are
/// never in a circle. Consumers draw in their producers: what only the backward half reads is
/// computed there, from what the forward half stored anyway.
Fusion fuse(const Graph& graph, const Analysis& analysis);

/// An op that clusters are made of.
bool is_elementwise(OpCode op);
bool is_fusible(const Tensor& tensor);

}    // namespace slipway
