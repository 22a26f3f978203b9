#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "executor/codegen/analysis.h"

namespace slipway {

/// `user` reads `source` by way of `operand`, its own operand; null: by way of nodes that were
/// passed through.
struct ReadLink {
    std::size_t source, user;
    const Tensor* operand;
};

inline constexpr std::size_t no_cluster = SIZE_MAX;

/// The nodes of a graph but its views, by number, while they are put into clusters: who reads whom,
/// looking through views. Graph and analysis outlive it.
struct FusionNodes {
    FusionNodes(const Graph& graph, const Analysis& graph_analysis);

    const Analysis& analysis;
    std::vector<Tensor> tensors;    ///< operands before users
    std::vector<std::vector<ReadLink>> users, sources;
    std::vector<std::size_t> cluster_of;
    std::vector<bool> pinned;    ///< somebody outside the graph wants it in memory

    std::size_t size() const { return tensors.size(); }
    const NodeFacts& facts(std::size_t id) const { return analysis.of(tensors[id]); }
    std::int64_t elements(std::size_t id) const { return tensors[id].shape().element_count(); }

    /// From now on its users read what it reads, and nobody reads it. However many ways lead from a
    /// source to a user through such nodes, they are one link.
    void pass_through(std::size_t id);

private:
    void add(const ReadLink& link);

    std::set<std::pair<std::size_t, std::size_t>> passed_;    ///< links without operand: each once
};

}    // namespace slipway
