// What replicas compute together is alive for all of them at once. What lies between two such steps
// need not be: each replica runs those steps in one go, in the same memory as the one before, and
// has for its own only what goes in and out. So a plan grows by what crosses the joined steps,
// mostly what the forward pass leaves to the backward pass.
//
// Where that is too much, the plan is fullest somewhere between the last layers, forward, and the
// first ones, backward. The joined steps on both sides of that place are given up: the layer around
// it is run by one replica after the other, and what it leaves to itself is there once. That goes
// on outwards until the plan is small enough.
#include "executor/codegen/joined_replicas.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "executor/codegen/buffers.h"
#include "executor/codegen/core_arenas.h"
#include "executor/codegen/waiting_contributions.h"

namespace slipway {

namespace {

std::span<Step> own_steps(Program& program, const Stage& stage) {
    if (!stage.per_core) return {};
    return std::span(program.steps)
        .subspan(stage.first_step, stage.step_count - stage.block_step_count);
}

bool is_joined(const Step& step) {
    return bool(step.together);
}

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

struct Use {
    StepRange steps{never, 0};
    bool is_of_joined = false;    ///< replicas have it at once
};

std::vector<Use> uses_of(const Program& program) {
    std::vector<Use> uses(program.buffers.size());
    for (std::size_t i = 0; i < program.steps.size(); ++i)
        for (const auto* ids : {&program.steps[i].reads, &program.steps[i].writes})
            for (const BufferId id : *ids) {
                uses[id].steps = {std::min(uses[id].steps.first, i), i};
                uses[id].is_of_joined = uses[id].is_of_joined || is_joined(program.steps[i]);
            }
    return uses;
}

/// What a result takes over that each replica has for itself costs nothing when each has that for
/// itself as well: the logits, over which a loss writes their gradient.
void keep_what_is_taken_over(Program& program, const std::vector<Use>& uses) {
    std::vector<Buffer>& buffers = program.buffers;
    const auto is_own = [&](BufferId id) {
        return (buffers[id].region == Region::worker || buffers[id].region == Region::core) &&
               !buffers[id].is_in_turn;
    };
    for (std::size_t i = program.steps.size(); i-- > 0;) {
        const Step& step = program.steps[i];
        for (std::size_t write = 0; write < step.writes.size(); ++write) {
            const BufferId result = step.writes[write];
            if (!is_own(result) || uses[result].steps.first != i) continue;
            const auto taken = std::ranges::find_if(step.in_place, [&](const auto& pair) {
                const BufferId id = step.reads[pair.first];
                return pair.second == write && uses[id].steps.last == i &&
                       buffers[id].region == buffers[result].region &&
                       buffers[id].shape.byte_count() == buffers[result].shape.byte_count();
            });
            if (taken != step.in_place.end()) buffers[step.reads[taken->first]].is_in_turn = false;
        }
    }
}

/// What lives no longer than the steps that a replica runs in one go is there once. Scratch memory
/// is so from the start.
void mark_in_turn(Program& program) {
    const std::vector<StepRange> ranges = steps_in_one_go(program);
    const std::vector<Use> uses = uses_of(program);
    for (BufferId id = 0; id < program.buffers.size(); ++id) {
        Buffer& buffer = program.buffers[id];
        const bool is_of_replica = buffer.region == Region::worker || buffer.region == Region::core;
        if (is_of_replica && uses[id].steps.first != never && !uses[id].is_of_joined &&
            ranges[uses[id].steps.first].last >= uses[id].steps.last)
            buffer.is_in_turn = true;
    }
    keep_what_is_taken_over(program, uses);
}

void run_the_others_in_one_go(Program& program) {
    for (const Stage& stage : program.stages) {
        const std::span<Step> steps = own_steps(program, stage);
        for (std::size_t i = 1; i < steps.size(); ++i)
            steps[i].continues = !is_joined(steps[i]) && !is_joined(steps[i - 1]);
    }
    mark_in_turn(program);
}

/// partials  contributions to a sum that a worker holds at once
std::int64_t planned_bytes(Program& program, int workers, int cores, int partials) {
    place_buffers(program);
    const auto arena = [&](Region region) { return program.arena_bytes[std::size_t(region)]; };
    return arena(Region::worker) * workers * program.replicas_together +
           arena(Region::core) * cores + arena(Region::shared) + arena(Region::sum) * workers +
           bytes_of_partial(program) * workers * (partials - 1);
}

std::int64_t per_core_bytes(const Program& program, const std::vector<BufferId>& ids) {
    std::int64_t bytes = 0;
    for (const BufferId id : ids)
        if (is_per_core(program, program.buffers[id]))
            bytes += program.buffers[id].shape.byte_count();
    return bytes;
}

/// Takes what each core has of its own from what the step reads.
std::vector<BufferId> take_own(const Program& program, Step& step) {
    const auto own = std::ranges::partition(
        step.reads, [&](BufferId id) { return !is_per_core(program, program.buffers[id]); });
    std::vector<BufferId> taken(own.begin(), own.end());
    step.reads.erase(own.begin(), own.end());
    return taken;
}

/// Lets a core read these for the steps from `batching` on as soon as it has them all.
void read_early(Program& program, std::size_t batching, const std::vector<BufferId>& own) {
    const auto writes_own = [&](const Step& step) {
        return std::ranges::find_first_of(step.writes, own) != step.writes.end();
    };
    const auto before = std::span(program.steps).first(batching);
    const auto last = std::ranges::find_if(before.rbegin(), before.rend(), writes_own);
    if (last != before.rend()) last->reads.insert(last->reads.end(), own.begin(), own.end());
}

/// Whether the step copies what each core has for the next one, which makes a result of it.
bool copies_for_next(const Program& program, std::size_t i) {
    if (i + 1 == program.steps.size() || !program.steps[i + 1].batches_cores) return false;
    const Step& next = program.steps[i + 1];
    return std::ranges::all_of(program.steps[i].writes, [&](BufferId id) {
        return std::ranges::count(next.reads, id) > 0 && std::ranges::count(next.writes, id) == 0;
    });
}

/// What each core holds for the steps that batch the cores is let go where it is more, for all
/// replicas, than what they make of it: then each core makes it by itself. Copies of it are not
/// made.
/// returns  the bytes of what each core makes by itself
std::int64_t let_go_what_is_batched(Program& program) {
    std::int64_t made_bytes = 0;
    for (std::size_t first = 0, last = 0; first < program.steps.size(); first = last + 1) {
        last = first;
        if (!program.steps[first].batches_cores) continue;
        if (copies_for_next(program, first)) {
            for (const BufferId id : program.steps[first].writes)
                program.buffers[id].shape = {DType::u8, {0}};
            ++last;
        }
        std::int64_t held_bytes = 0;
        for (std::size_t i = first; i <= last; ++i)
            held_bytes += per_core_bytes(program, program.steps[i].reads);
        Shape& made = program.buffers[program.steps[last].writes[0]].shape;
        if (held_bytes * program.replicas_together <= made.byte_count()) continue;
        made_bytes += made.byte_count();
        made = {DType::u8, {0}};
        std::vector<BufferId> own;
        for (std::size_t i = first; i <= last; ++i)
            std::ranges::copy(take_own(program, program.steps[i]), std::back_inserter(own));
        read_early(program, first, own);
    }
    return made_bytes;
}

/// About what the same batch would take with one core for each worker, whose values are as large as
/// those of all replicas.
std::int64_t bytes_of_one_core_each(Program program, int workers, int cores) {
    const std::int64_t made_bytes = let_go_what_is_batched(program);
    for (const Stage& stage : program.stages)
        for (const Sum& sum : stage.sums)
            if (sum.waiting) program.buffers[*sum.waiting].shape = {DType::u8, {0}};
    return planned_bytes(program, workers, cores, 1) + made_bytes * workers;
}

/// Gives up the joined steps on both sides of the one where the workers hold most, or that one.
/// returns false where there is none in its stage
bool take_apart_at_fullest(Program& program) {
    const std::size_t fullest = fullest_step(program);
    if (fullest >= program.steps.size()) return false;
    const auto stage = std::ranges::find_if(program.stages, [&](const Stage& each) {
        return fullest < each.first_step + each.step_count;
    });
    const std::span<Step> steps = own_steps(program, *stage);
    const std::size_t at = std::min(fullest - stage->first_step, steps.size());
    const std::span<Step> left = steps.first(at), right = steps.subspan(at);
    const auto before = std::ranges::find_if(left.rbegin(), left.rend(), is_joined);
    const auto after = std::ranges::find_if(right, is_joined);
    const bool is_itself = after == right.begin() && after != right.end();
    bool some = false;
    if (after != right.end()) {
        after->together = {};
        some = true;
    }
    if (!is_itself && before != left.rend()) {
        before->together = {};
        some = true;
    }
    return some;
}

void run_apart(Program& program, std::vector<Buffer> buffers) {
    program.buffers = std::move(buffers);
    program.replicas_together = 1;
    for (Step& step : program.steps) {
        step.together = {};
        step.continues = false;
    }
    for (Stage& stage : program.stages)
        for (Sum& sum : stage.sums)
            sum.waiting.reset();
    place_buffers(program);
}

}    // namespace

void join_in_little_memory(Program& program, int replicas, const JoinOptions& options) {
    constexpr std::int64_t bytes_little = std::int64_t{4} << 20, share = 32;
    const int workers = options.workers, cores = options.cores;
    const auto bytes = [&, partials = std::bit_width(unsigned(replicas))] {
        return planned_bytes(program, workers, cores, partials);
    };
    const std::int64_t apart = bytes();
    std::vector<Buffer> buffers = program.buffers;
    program.replicas_together = replicas;
    let_contributions_wait(program);
    join_arenas(program, {.cores = cores, .workers = workers});
    std::int64_t bytes_max = apart + std::max(bytes_little, apart / share);
    if (!options.saves_memory)
        bytes_max = std::max(bytes_max, std::min(bytes_of_one_core_each(program, workers, cores),
                                                 apart + apart / 2));
    while (std::ranges::any_of(program.steps, is_joined)) {
        run_the_others_in_one_go(program);
        if (bytes() <= bytes_max) return;
        if (!take_apart_at_fullest(program)) break;
    }
    run_apart(program, std::move(buffers));
}

}    // namespace slipway
