// Who does what in a replicated stage, and where workers must wait. A step of many elements is
// cut: each worker does a range of them. Another one goes to the least busy worker that need not
// wait for anybody. What must be waited for follows from the bytes: two accesses since the last
// barrier collide when one of them writes, they overlap, and not the same worker has both. Only
// then comes a barrier. A barrier before every step was simpler and cost more than the short
// steps of an update. Invariant: between two barriers no two workers touch a byte that one of
// them writes (tests compare random programs with an evaluation in order).
#include "executor/runtime/run_plan.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "api/base/error.h"
#include "executor/runtime/reduction_tree.h"

namespace slipway {

namespace {

// Below this a step takes a few microseconds: less than it costs to wait for the other workers.
constexpr std::int64_t sliced_elements_min = 16384;
constexpr std::int64_t dealt_bytes_min = 1 << 17;
// Sums of all blocks: likewise.
constexpr std::int64_t added_elements_max = 16384;

/// Of scratch memory that is cut by worker: no number of elements, of either sign.
constexpr std::int64_t scratch_cut = std::numeric_limits<std::int64_t>::min() / 2;

/// Who touches an operand's bytes: everybody its slice, one worker all, or everybody all.
enum class Sharing : std::uint8_t { by_slice, by_one, by_all };

/// Bytes touched since the last barrier, and by whom.
struct Access {
    Region region;
    std::size_t position;
    std::int64_t first, last;
    Sharing sharing;
    std::int64_t owner;    ///< by_slice: which cut; by_one: the worker
    bool written;
};

Access access_of(const Program& program, BufferId id, bool written) {
    const Buffer& buffer = program.buffers[id];
    return {buffer.region,   buffer.position,
            buffer.offset,   buffer.offset + buffer.shape.byte_count(),
            Sharing::by_all, 0,
            written};
}

/// Whether two workers could touch the same bytes, one of them writing.
bool collide(const Access& a, const Access& b) {
    if (!a.written && !b.written) return false;
    if (a.region != b.region || a.position != b.position) return false;
    if (a.last <= b.first || b.last <= a.first) return false;
    const bool same_owner = a.sharing == b.sharing && a.owner == b.owner;
    const bool same_cut = a.sharing == Sharing::by_slice && a.first == b.first && a.last == b.last;
    return !(same_owner && (same_cut || a.sharing == Sharing::by_one));
}

std::vector<Access> accesses_of(const Program& program, const Step& step) {
    std::vector<Access> accesses;
    for (const BufferId id : step.reads)
        accesses.push_back(access_of(program, id, false));
    for (const BufferId id : step.writes)
        accesses.push_back(access_of(program, id, true));
    return accesses;
}

/// Plans the steps of one replicated stage.
class StagePlanner {
public:
    StagePlanner(const Program& program, const Team& team)
        : program_(program), cores_(team.cores), loads_(std::size_t(team.workers), 0) {}

    /// `sharded`: this process computes a shard of its elements alone.
    RunPlan::StepPlan plan(const Step& step, bool sharded) {
        if (sharded) return plan_sliced(step, -step.elements);
        if (step.has_coarse_elements && step.elements > 0) return plan_coarse(step);
        const bool slices = step.elements >= sliced_elements_min ||
                            (step.batches_cores && step.elements > 0 && is_much(step));
        return slices ? plan_sliced(step, step.elements) : plan_whole(step);
    }

private:
    /// `cut`: alike in steps that are cut alike.
    RunPlan::StepPlan plan_sliced(const Step& step, std::int64_t cut) {
        std::vector<Access> mine = accesses_of(program_, step);
        std::size_t i = 0;
        for (const auto* ids : {&step.reads, &step.writes})
            for (const BufferId id : *ids) {
                Access& access = mine[i++];
                // Every worker reads all of a smaller operand.
                if (!access.written && program_.buffers[id].shape.element_count() != step.elements)
                    continue;
                // Scratch memory is cut by worker, not by element.
                if (access.written && step.batches_cores && id != step.writes[0]) continue;
                access.sharing = Sharing::by_slice;
                access.owner = cut;
            }
        const bool waits = collides(mine);
        add(mine, waits);
        return {.sliced = true, .worker = 0, .barrier_before = waits};
    }

    /// No other step cuts a result alike, and every one cuts scratch memory alike.
    RunPlan::StepPlan plan_coarse(const Step& step) {
        std::vector<Access> mine = accesses_of(program_, step);
        for (std::size_t i = step.reads.size(); i < mine.size(); ++i) {
            mine[i].sharing = Sharing::by_slice;
            mine[i].owner = i == step.reads.size() ? --last_coarse_cut_ : scratch_cut;
        }
        const bool waits = collides(mine);
        add(mine, waits);
        return {.sliced = true, .worker = 0, .barrier_before = waits};
    }

    /// The least busy worker that need not wait; when all must, any.
    RunPlan::StepPlan plan_whole(const Step& step) {
        std::vector<Access> mine = accesses_of(program_, step);
        std::vector<std::size_t> by_load(loads_.size());
        std::iota(by_load.begin(), by_load.end(), std::size_t{0});
        std::ranges::stable_sort(by_load, {}, [&](std::size_t i) { return loads_[i]; });
        // Sending small work elsewhere costs more than doing it.
        if (bytes_of(mine) < dealt_bytes_min) by_load = {0};
        for (const std::size_t worker : by_load) {
            own(mine, worker);
            if (collides(mine)) continue;
            add(mine, false);
            loads_[worker] += bytes_of(mine);
            return {.sliced = false, .worker = int(worker), .barrier_before = false};
        }
        own(mine, 0);
        add(mine, true);
        loads_[0] += bytes_of(mine);
        return {.sliced = false, .worker = 0, .barrier_before = true};
    }

    /// Less is done by one worker in the time that the others would wait for it at a barrier.
    bool is_much(const Step& step) const {
        std::int64_t bytes = 0;
        for (const auto* ids : {&step.reads, &step.writes})
            for (const BufferId id : *ids) {
                const Buffer& buffer = program_.buffers[id];
                bytes += buffer.shape.byte_count() * (is_per_core(program_, buffer) ? cores_ : 1);
            }
        return bytes >= dealt_bytes_min;
    }

    static void own(std::vector<Access>& accesses, std::size_t worker) {
        for (Access& access : accesses) {
            access.sharing = Sharing::by_one;
            access.owner = std::int64_t(worker);
        }
    }

    static std::int64_t bytes_of(const std::vector<Access>& accesses) {
        std::int64_t bytes = 0;
        for (const Access& access : accesses)
            bytes += access.last - access.first;
        return bytes;
    }

    bool collides(const std::vector<Access>& mine) const {
        return std::ranges::any_of(mine, [&](const Access& a) {
            return std::ranges::any_of(open_, [&](const Access& b) { return collide(a, b); });
        });
    }

    void add(const std::vector<Access>& mine, bool after_barrier) {
        if (after_barrier) {
            open_.clear();
            std::ranges::fill(loads_, 0);
        }
        open_.insert(open_.end(), mine.begin(), mine.end());
    }

    const Program& program_;
    const int cores_;
    std::int64_t last_coarse_cut_ = scratch_cut;
    std::vector<Access> open_;           ///< since the last barrier
    std::vector<std::int64_t> loads_;    ///< bytes dealt to each worker since then
};

bool is_added_at_barrier(const Program& program, const Stage& stage, std::size_t blocks) {
    if (stage.sums.empty() || stage.block_step_count > 0) return false;
    std::int64_t elements = 0;
    for (const Sum& sum : stage.sums)
        elements += program.buffers[sum.buffer].shape.element_count();
    return elements * std::int64_t(blocks) <= added_elements_max;
}

/// One worker's anyhow, and nobody waits in it.
bool is_run_at_barrier(const RunPlan& plan, const Stage& stage) {
    const auto steps = std::span(plan.steps).subspan(stage.first_step, stage.step_count);
    return std::ranges::all_of(steps, [](const RunPlan::StepPlan& step) {
        return !step.sliced && step.worker == 0 && !step.barrier_before;
    });
}

std::vector<std::int64_t> strides_of(const Program& program) {
    std::vector<std::int64_t> strides;
    for (const Buffer& buffer : program.buffers)
        strides.push_back(buffer.is_in_turn ? 0 : bytes_in_lines(buffer));
    return strides;
}

std::vector<std::vector<std::size_t>> contributions_of(const Program& program) {
    std::vector<std::vector<std::size_t>> contributions(program.steps.size());
    for (const Stage& stage : program.stages)
        for (std::size_t i = 0; i < stage.step_count; ++i)
            for (std::size_t sum = 0; sum < stage.sums.size(); ++sum) {
                const std::size_t step = stage.first_step + i;
                if (std::ranges::count(program.steps[step].writes, stage.sums[sum].buffer) > 0)
                    contributions[step].push_back(sum);
            }
    return contributions;
}

}    // namespace

int granted_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return std::max(1, CPU_COUNT(&set));
}

Team make_team(int cores, int workers) {
    if (cores < 1 || cores > cores_max)
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("cores must be 1 to {}, got {}", cores_max, cores));
    if (workers < 0 || workers > workers_max)
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("workers must be 0 (all granted CPUs) to {}, got {}", workers_max,
                                workers));
    return {.cores = cores, .workers = std::min(workers == 0 ? granted_cpus() : workers, cores)};
}

std::int64_t bytes_in_lines(const Buffer& buffer) {
    constexpr std::int64_t line_bytes = 64;
    return (buffer.shape.byte_count() + line_bytes - 1) / line_bytes * line_bytes;
}

RunPlan make_run_plan(const Program& program, const Team& team,
                      const std::optional<ShardedUpdate>& update) {
    RunPlan plan{.blocks = core_blocks(team),
                 .steps = std::vector<RunPlan::StepPlan>(program.steps.size()),
                 .stages = std::vector<RunPlan::StagePlan>(program.stages.size()),
                 .replica_strides = strides_of(program),
                 .contributions = contributions_of(program),
                 .exchange = make_exchange_plan(program, team.cores, update)};
    if (team.workers == 1) return plan;
    for (std::size_t number = 0; number < program.stages.size(); ++number) {
        const Stage& stage = program.stages[number];
        RunPlan::StagePlan& stage_plan = plan.stages[number];
        stage_plan.adds_at_barrier = is_added_at_barrier(program, stage, plan.blocks.size());
        if (stage.per_core) continue;
        StagePlanner planner(program, team);
        for (std::size_t i = stage.first_step; i < stage.first_step + stage.step_count; ++i)
            plan.steps[i] = planner.plan(program.steps[i], plan.exchange.shards.shards(i));
        stage_plan.runs_at_barrier = number > 0 && is_run_at_barrier(plan, stage);
    }
    return plan;
}

}    // namespace slipway
