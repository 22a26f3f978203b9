#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/program/program.h"
#include "executor/runtime/element_range.h"

namespace slipway {

/// A program that updates parameters, of which each process may do the updates of a shard of the
/// elements. What it does not name is whole in all processes after each run.
struct ShardedUpdate {
    /// Inputs, donated, that may be current in their owner's shard alone after a run: optimizer
    /// state. Whoever reads them whole has them gathered first.
    std::vector<std::size_t> state;
};

/// Which steps each process runs for its own shard of the elements, and what follows from it. It
/// depends on the program alone: the same in every process.
struct ShardPlan {
    /// Donated input that the steps write and that is gathered after `step`.
    struct Gathered {
        std::size_t step = 0;
        std::size_t input = 0;
    };
    std::vector<bool> steps;               ///< by step; empty: none is
    std::vector<BufferId> sums;            ///< each process needs those of its own shard alone
    std::vector<Gathered> gathered;        ///< in the order of the steps
    std::vector<std::size_t> in_shards;    ///< inputs that stay so, rising

    bool shards(std::size_t step) const { return !steps.empty() && steps[step]; }
};

/// Smaller sums are exchanged together with others (process_sums.h) and used by all.
inline constexpr std::int64_t sharded_bytes_min = (std::int64_t{256} << 10) + 1;

/// The shard of process `rank` of `count`. Each bound is on a line of the cache.
inline ElementRange shard_of(std::int64_t elements, int rank, int count) {
    return part_of({0, elements}, rank, count);
}

/// Elementwise steps that read large sums, of f32 and exchanged as f32, which nobody else reads,
/// and write donated inputs alone, which no later step of the program touches. What they write is
/// gathered; what no other step touches, and `update` names as state, is not. A step after which
/// more bytes would be gathered than its sums have is none.
ShardPlan make_shard_plan(const Program& program, const ShardedUpdate& update);

}    // namespace slipway
