// Contributions to a sum are added up by a fixed tree, so some wait for others: of four replicas
// two. Replicas that run together make and add up the contributions of some steps in one go. What
// waits meanwhile is alive for those steps alone, as scratch memory is, and takes bytes of the
// arena that hold something else before and after.
#include "executor/codegen/waiting_contributions.h"

#include "executor/program/team.h"

namespace slipway {

void let_contributions_wait(Program& program) {
    constexpr std::int64_t line_bytes = 64;
    const int replicas = program.replicas_together;
    const std::int64_t waiting = partials_needed(replicas) - 1;
    for (Stage& stage : program.stages)
        for (Sum& sum : stage.sums) {
            if (sum.by_block) continue;
            const std::int64_t bytes = program.buffers[sum.buffer].shape.byte_count();
            const std::int64_t lines = (bytes + line_bytes - 1) / line_bytes * waiting;
            sum.waiting = BufferId(program.buffers.size());
            program.buffers.push_back(
                {.shape = {DType::u8, {(lines + replicas - 1) / replicas * line_bytes}},
                 .region = Region::worker});
        }
}

}    // namespace slipway
