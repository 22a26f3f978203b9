// A worker that runs one core after the other has one arena for what each of them has for a while,
// and an arena of each core for what it keeps. Where a worker runs all its cores at once, or has
// only one, there are as many of the former as of the latter, and two arenas only cost memory: one
// is fullest in the middle of a training step and the other one at its end. So there the plan is of
// one arena (docs/decisions/0082).
#include "executor/codegen/core_arenas.h"

#include <vector>

namespace slipway {

namespace {

/// Block steps are cut among workers, each of which has scratch memory of its own.
std::vector<bool> used_by_block_steps(const Program& program) {
    std::vector<bool> used(program.buffers.size());
    for (const Stage& stage : program.stages) {
        const std::size_t end = stage.first_step + stage.step_count;
        for (std::size_t i = end - stage.block_step_count; i < end; ++i)
            for (const auto* ids : {&program.steps[i].reads, &program.steps[i].writes})
                for (const BufferId id : *ids)
                    used[id] = true;
    }
    return used;
}

}    // namespace

void join_arenas(Program& program, const Team& team) {
    const int at_once = program.replicas_together;
    if ((team.cores + at_once - 1) / at_once > team.workers) return;
    const std::vector<bool> stays = used_by_block_steps(program);
    for (BufferId id = 0; id < program.buffers.size(); ++id) {
        Buffer& buffer = program.buffers[id];
        if (buffer.region == Region::worker && !stays[id]) buffer.region = Region::core;
    }
}

}    // namespace slipway
