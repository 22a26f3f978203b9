#include "executor/program/temporary_bytes.h"

#include <algorithm>
#include <vector>

namespace slipway {

std::int64_t bytes_of_partial(const Program& program) {
    const auto waits_apart = [](const Sum& sum) { return !sum.by_block && !sum.waiting; };
    const bool some = std::ranges::any_of(program.stages, [&](const Stage& stage) {
        return std::ranges::any_of(stage.sums, waits_apart);
    });
    return some ? program.arena_bytes[std::size_t(Region::sum)] : 0;
}

std::int64_t temporary_bytes(const Program& program, const Team& team) {
    const auto arena = [&](Region region) { return program.arena_bytes[std::size_t(region)]; };
    const std::vector<CoreBlock> blocks = core_blocks(team);
    const int extra_partials = partials_needed(blocks.front().count) - 1;
    return arena(Region::worker) * team.workers * program.replicas_together +
           arena(Region::core) * team.cores + arena(Region::shared) +
           arena(Region::sum) * std::int64_t(blocks.size()) +
           bytes_of_partial(program) * team.workers * extra_partials + constant_bytes(program);
}

}    // namespace slipway
