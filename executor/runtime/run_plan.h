#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "executor/program/program.h"

namespace slipway {

/// How many virtual cores there are, and how many threads run them.
struct Team {
    int cores = 1;
    int workers = 1;
};

inline constexpr int cores_max = 64, workers_max = 64;

/// CPUs this process may use (its affinity mask), at least 1.
int granted_cpus();

/// The team for `cores` virtual cores: `workers` threads, or when 0 as many as CPUs are granted;
/// never more than cores.
/// errors  invalid_argument when cores is outside 1..cores_max or workers outside 0..workers_max
Team make_team(int cores, int workers);

/// A range of cores whose contributions one worker adds up by itself: an aligned subtree of the
/// fixed tree.
struct CoreBlock {
    int first = 0;
    int count = 0;
    int worker = 0;
};

/// The subtrees of ((0+1)+(2+3))+((4+5)+(6+7))... and their workers: whole powers of two (the last
/// may be cut off by the number of cores), dealt out in order.
std::vector<CoreBlock> core_blocks(const Team& team);

/// How a team runs one program: decided once, before the first run.
struct RunPlan {
    struct StepPlan {
        bool sliced = false;            ///< each worker computes its part
        int worker = 0;                 ///< not sliced: computes all of it
        bool barrier_before = false;    ///< all workers have finished the steps before
    };
    std::vector<CoreBlock> blocks;
    std::vector<StepPlan> steps;    ///< by step; meaningless for steps of per-core stages
};

/// Slices elementwise steps of replicated stages over the workers and deals the others out by the
/// bytes they touch, with a barrier wherever two workers could touch the same bytes.
RunPlan make_run_plan(const Program& program, const Team& team);

/// Bytes that the team's arenas take for this program, constants included.
std::int64_t temporary_bytes(const Program& program, const Team& team);

}    // namespace slipway
