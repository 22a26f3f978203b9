#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "executor/program/program.h"
#include "executor/program/team.h"
#include "executor/runtime/exchange_plan.h"

namespace slipway {

inline constexpr int cores_max = 64, workers_max = 64;

/// CPUs this process may use (its affinity mask), at least 1.
int granted_cpus();

/// The team for `cores` virtual cores: `workers` threads, or when 0 as many as CPUs are granted;
/// never more than cores.
/// errors  invalid_argument when cores is outside 1..cores_max or workers outside 0..workers_max
Team make_team(int cores, int workers);

/// The bytes of one copy, in whole lines of the cache, as buffers are placed.
std::int64_t bytes_in_lines(const Buffer& buffer);

/// How a team runs one program: decided once, before the first run.
struct RunPlan {
    struct StepPlan {
        bool sliced = false;            ///< each worker computes its part
        int worker = 0;                 ///< not sliced: computes all of it
        bool barrier_before = false;    ///< all workers have finished the steps before
    };
    /// What whoever comes last to a barrier does there, alone, so that the others need not come to
    /// a second one: what is too small to be divided. Where there are other processes, nothing.
    struct StagePlan {
        bool runs_at_barrier = false;    ///< replicated: all of it, at the end of the stage before
        bool adds_at_barrier = false;    ///< per-core: its sums, at its own end
    };
    std::vector<CoreBlock> blocks;
    std::vector<StepPlan> steps;    ///< by step; meaningless for steps of per-core stages
    std::vector<StagePlan> stages;
    /// By buffer: bytes from a replica's copy to the next one's; 0 where replicas have it in turn.
    std::vector<std::int64_t> replica_strides;
    /// By step of a per-core stage: which of the stage's sums it contributes to.
    std::vector<std::vector<std::size_t>> contributions;
    ExchangePlan exchange;    ///< of use where there are other processes
};

/// Slices elementwise steps of replicated stages over the workers and deals the others out by the
/// bytes they touch, with a barrier wherever two workers could touch the same bytes.
/// `update`: of a program whose other processes update the other shards; none: each does all.
RunPlan make_run_plan(const Program& program, const Team& team,
                      const std::optional<ShardedUpdate>& update = {});

}    // namespace slipway
