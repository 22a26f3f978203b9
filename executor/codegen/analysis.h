#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "executor/graph/tensor.h"
#include "executor/program/program.h"

namespace slipway {

/// What lowering must know about a node before it makes steps.
struct NodeFacts {
    /// Alternations between replicated (even) and per core (odd) along the deepest path to it.
    int stage = 0;
    /// The last stage with a step that reads it, directly or through views.
    int last_use_stage = 0;
    /// Of a sum over the cores: the per-core stage that ends with it. It is used in `stage`.
    int summed_stage = 0;
    /// Its only user is a sum over the cores.
    bool is_only_summed = false;
    /// The same by way of views.
    bool feeds_only_sums = false;
    /// A product that is made of the rows of all cores at once, or what is added to it, in the
    /// stage of its sum; of those of a block, at the end of its own stage.
    bool is_batched = false;
    /// It is a scatter_add onto what its stage computes and nobody else reads: in that buffer.
    bool adds_in_place = false;
    /// The order in which its only user wants its dimensions: a transposition.
    std::optional<Dims> wanted_order;
    /// Where its result must go, when somebody outside its stage says so.
    std::optional<Region> region;
    std::size_t position = 0;    ///< of that input or output
};

/// A graph, walked once.
struct Analysis {
    std::vector<Tensor> order;    ///< operands before users
    std::unordered_map<const Node*, NodeFacts> facts;
    std::vector<std::size_t> copied_outputs;    ///< positions whose value lies elsewhere
    int last_stage = 0;

    const NodeFacts& of(const Tensor& tensor) const { return facts.at(tensor.get()); }
};

/// With `bucket_bytes` the per-core stage that contributes most to sums over the cores is cut
/// before the next contribution wherever those since the last cut have so many bytes: they are
/// added up and used before the next ones are made, in the same memory. What crosses a cut is held
/// for each core. `in_blocks` as in LowerOptions: then sums may travel between processes, and each
/// bucket's are used a stage later, after the next ones are made, in the memory of two buckets.
Analysis analyse(const Graph& graph, std::int64_t bucket_bytes = 0, bool in_blocks = false);

}    // namespace slipway
