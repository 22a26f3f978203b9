#include "executor/runtime/run_plan.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>

#include "api/base/error.h"
#include "executor/runtime/collectives.h"

namespace slipway {

namespace {

// Below this a step takes a few microseconds: less than it costs to meet the other workers.
constexpr std::int64_t sliced_elements_min = 16384;

/// Bytes touched since the last barrier, and by whom: everybody its slice of `elements`, or worker
/// 0 alone (elements = 0).
struct Access {
    Region region;
    std::size_t position;
    std::int64_t first, last;
    std::int64_t elements;
    bool written;
};

Access access_of(const Program& program, BufferId id, std::int64_t elements, bool written) {
    const Buffer& buffer = program.buffers[id];
    return {buffer.region, buffer.position,
            buffer.offset, buffer.offset + buffer.shape.byte_count(),
            elements,      written};
}

/// Whether two workers could touch the same bytes, one of them writing.
bool collide(const Access& a, const Access& b) {
    if (!a.written && !b.written) return false;
    if (a.region != b.region || a.position != b.position) return false;
    if (a.last <= b.first || b.last <= a.first) return false;
    const bool same_owner = a.elements == b.elements && a.first == b.first && a.last == b.last;
    return !(same_owner || (a.elements == 0 && b.elements == 0));
}

std::vector<Access> accesses_of(const Program& program, const Step& step, bool sliced) {
    std::vector<Access> accesses;
    for (const BufferId id : step.reads) {
        const bool by_slice = sliced && program.buffers[id].shape.element_count() == step.elements;
        // Every worker reads all of a smaller operand: an owner of its own, equal to nobody's.
        accesses.push_back(access_of(program, id,
                                     by_slice ? step.elements
                                     : sliced ? -1
                                              : 0,
                                     false));
    }
    for (const BufferId id : step.writes)
        accesses.push_back(access_of(program, id, sliced ? step.elements : 0, true));
    return accesses;
}

}    // namespace

int granted_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return std::max(1, CPU_COUNT(&set));
}

Team make_team(int cores, int workers) {
    if (cores < 1 || cores > 64)
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("cores must be 1 to 64, got {}", cores));
    if (workers < 0 || workers > 64)
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("workers must be 0 (all granted CPUs) to 64, got {}", workers));
    return {.cores = cores, .workers = std::min(workers == 0 ? granted_cpus() : workers, cores)};
}

std::vector<CoreBlock> core_blocks(const Team& team) {
    int size = 1;
    while ((team.cores + size * 2 - 1) / (size * 2) >= team.workers && size < team.cores)
        size *= 2;
    const int count = (team.cores + size - 1) / size;
    std::vector<CoreBlock> blocks;
    for (int block = 0; block < count; ++block)
        blocks.push_back({.first = block * size,
                          .count = std::min(size, team.cores - block * size),
                          .worker = block * team.workers / count});
    return blocks;
}

RunPlan make_run_plan(const Program& program, const Team& team) {
    RunPlan plan{.blocks = core_blocks(team),
                 .steps = std::vector<RunPlan::StepPlan>(program.steps.size())};
    if (team.workers == 1) return plan;
    for (const Stage& stage : program.stages) {
        if (stage.per_core) continue;
        std::vector<Access> open;
        for (std::size_t i = stage.first_step; i < stage.first_step + stage.step_count; ++i) {
            const Step& step = program.steps[i];
            RunPlan::StepPlan& step_plan = plan.steps[i];
            step_plan.sliced = step.elements >= sliced_elements_min;
            const std::vector<Access> mine = accesses_of(program, step, step_plan.sliced);
            step_plan.barrier_before = std::ranges::any_of(mine, [&](const Access& a) {
                return std::ranges::any_of(open, [&](const Access& b) { return collide(a, b); });
            });
            if (step_plan.barrier_before) open.clear();
            open.insert(open.end(), mine.begin(), mine.end());
        }
    }
    return plan;
}

std::int64_t temporary_bytes(const Program& program, const Team& team) {
    const auto arena = [&](Region region) { return program.arena_bytes[std::size_t(region)]; };
    const std::vector<CoreBlock> blocks = core_blocks(team);
    const int extra_partials = partials_needed(blocks.front().count) - 1;
    return arena(Region::worker) * team.workers + arena(Region::core) * team.cores +
           arena(Region::shared) +
           arena(Region::sum) * (std::int64_t(blocks.size()) + team.workers * extra_partials) +
           constant_bytes(program);
}

}    // namespace slipway
