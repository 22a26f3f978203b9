#include "executor/runtime/run_memory.h"

#include <span>

#include "executor/runtime/reduction_tree.h"

namespace slipway {

RunMemory::RunMemory(const Team& team)
    : worker(std::size_t(team.workers)),
      core(std::size_t(team.cores)),
      partials(std::size_t(team.workers)) {
    const std::vector<CoreBlock> blocks = core_blocks(team);
    roots.resize(blocks.size());
    for (std::vector<Arena>& of_worker : partials)
        of_worker.resize(std::size_t(partials_needed(blocks.front().count) - 1));
}

void RunMemory::reserve(const Program& program) {
    const auto reserve_all = [&](std::span<Arena> arenas, Region region, int copies = 1) {
        for (Arena& arena : arenas)
            arena.reserve(program.arena_bytes[std::size_t(region)] * copies);
    };
    const int together = program.replicas_together;
    const std::size_t core_arenas = together > 1 ? roots.size() : core.size();
    reserve_all(worker, Region::worker, together);
    reserve_all(std::span(core).first(core_arenas), Region::core, together);
    reserve_all(roots, Region::sum);
    for (std::vector<Arena>& of_worker : partials)
        for (Arena& arena : of_worker)
            arena.reserve(bytes_of_partial(program));
    shared.reserve(program.arena_bytes[std::size_t(Region::shared)]);
}

}    // namespace slipway
