#include "executor/runtime/run_plan.h"

#include <gtest/gtest.h>

#include "api/base/error.h"

#include "executor/program/temporary_bytes.h"

namespace slipway {
namespace {

TEST(Team, never_has_more_workers_than_cores_and_refuses_nonsense) {
    EXPECT_EQ(make_team(8, 0).workers, std::min(8, granted_cpus()));
    EXPECT_EQ(make_team(1, 0).workers, 1);
    EXPECT_EQ(make_team(8, 64).workers, 8);
    EXPECT_THROW(make_team(0, 1), Error);
    EXPECT_THROW(make_team(65, 1), Error);
    EXPECT_THROW(make_team(8, -1), Error);
    EXPECT_THROW(make_team(8, 65), Error);
}

TEST(CoreBlocks, cover_all_cores_in_order_and_use_every_worker) {
    for (int cores = 1; cores <= 16; ++cores) {
        for (int workers = 1; workers <= cores; ++workers) {
            int next = 0;
            std::vector<int> per_worker(std::size_t(workers), 0);
            for (const CoreBlock& block : core_blocks({cores, workers})) {
                EXPECT_EQ(block.first, next);
                next += block.count;
                per_worker[std::size_t(block.worker)] += block.count;
            }
            EXPECT_EQ(next, cores);
            for (const int count : per_worker)
                EXPECT_GT(count, 0) << cores << " cores, " << workers << " workers";
        }
    }
    EXPECT_EQ(core_blocks({8, 2}).size(), 2u);
    EXPECT_EQ(core_blocks({8, 1}).size(), 1u);
}

constexpr std::int64_t large = 1 << 16;

Buffer shared_buffer(std::int64_t elements, std::int64_t offset) {
    return {.shape = {DType::f32, {elements}}, .region = Region::shared, .offset = offset};
}

Step step(std::vector<BufferId> reads, std::vector<BufferId> writes, std::int64_t elements) {
    return {.name = "work",
            .reads = std::move(reads),
            .writes = std::move(writes),
            .in_place = {},
            .elements = elements,
            .kernel = [](const KernelCall&) {}};
}

/// Which steps wait for all workers, given buffers of sizes and steps over them.
std::vector<bool> barriers(std::vector<Buffer> buffers, std::vector<Step> steps) {
    Program program;
    program.buffers = std::move(buffers);
    program.stages = {{false, 0, steps.size(), {}}};
    program.steps = std::move(steps);
    std::vector<bool> result;
    for (const auto& plan : make_run_plan(program, {8, 2}).steps)
        result.push_back(plan.barrier_before);
    return result;
}

using Bools = std::vector<bool>;

TEST(RunPlan, lets_slices_of_equal_size_follow_each_other_freely) {
    EXPECT_EQ(barriers({shared_buffer(large, 0), shared_buffer(large, 4 * large)},
                       {step({}, {0}, large), step({0}, {1}, large), step({0, 1}, {0}, large)}),
              (Bools{false, false, false}));
}

TEST(RunPlan, waits_where_another_worker_wrote_what_is_read) {
    const std::vector<Buffer> buffers{shared_buffer(large, 0), shared_buffer(large, 4 * large)};
    EXPECT_EQ(barriers(buffers, {step({}, {0}, large), step({0}, {1}, 0)}), (Bools{false, true}));
    EXPECT_EQ(barriers(buffers, {step({}, {0}, 0), step({0}, {1}, large)}), (Bools{false, true}));
}

TEST(RunPlan, waits_where_memory_is_taken_over_in_another_cut) {
    EXPECT_EQ(barriers({shared_buffer(large, 0), shared_buffer(2 * large, 0)},
                       {step({}, {0}, large), step({}, {1}, 2 * large)}),
              (Bools{false, true}));
}

// Goal: a worker's part of scratch memory need not be its part of a result at the same place.
TEST(RunPlan, counts_the_memory_of_replicas_that_run_together) {
    Program program;
    program.arena_bytes[std::size_t(Region::worker)] = 64;
    program.arena_bytes[std::size_t(Region::core)] = 128;
    EXPECT_EQ(temporary_bytes(program, {8, 2}), 2 * 64 + 8 * 128);
    program.replicas_together = 4;
    EXPECT_EQ(temporary_bytes(program, {8, 2}), 2 * 4 * 64 + 8 * 128);
}

TEST(RunPlan, waits_where_scratch_memory_of_a_step_that_batches_cores_is_taken_over) {
    Step joining = step({}, {0, 1}, 5), next = step({}, {1}, 5);
    joining.batches_cores = next.batches_cores = true;
    EXPECT_EQ(barriers({shared_buffer(large, 0), shared_buffer(large, 4 * large)},
                       {joining, step({}, {0}, large), next}),
              (Bools{false, true, false}));
    EXPECT_EQ(barriers({shared_buffer(large, 0), shared_buffer(large, 4 * large)}, {joining, next}),
              (Bools{false, true}));
}

Step coarse(std::vector<BufferId> reads, std::vector<BufferId> writes) {
    Step result = step(std::move(reads), std::move(writes), 5);
    result.has_coarse_elements = true;
    return result;
}

// Goal: parts of packings are found otherwise than slices, so equal numbers of elements say
// nothing.
TEST(RunPlan, waits_where_a_step_of_coarse_elements_shares_bytes_with_others_not_for_scratch) {
    const std::vector<Buffer> buffers{shared_buffer(large, 0), shared_buffer(large, 4 * large),
                                      shared_buffer(large, 8 * large), shared_buffer(5, 0)};
    EXPECT_EQ(barriers(buffers, {coarse({}, {0}), coarse({}, {1}), coarse({0, 1}, {2})}),
              (Bools{false, false, true}));
    EXPECT_EQ(barriers(buffers, {coarse({}, {0, 2}), coarse({}, {1, 2})}), (Bools{false, false}));
    EXPECT_EQ(barriers(buffers, {coarse({}, {0}), coarse({}, {0})}), (Bools{false, true}));
    EXPECT_EQ(barriers(buffers, {coarse({}, {0}), step({}, {0}, large)}), (Bools{false, true}));
    EXPECT_EQ(barriers(buffers, {coarse({}, {0, 2}), step({}, {2}, large)}), (Bools{false, true}));
    EXPECT_EQ(barriers(buffers, {step({}, {3}, 5), coarse({3}, {1})}), (Bools{false, true}));
}

/// Cores add up `sum_elements`, one worker makes `few` of it, then all workers their slices.
Program program_of_small_stages(std::int64_t sum_elements) {
    Program program;
    program.buffers = {{.shape = {DType::f32, {sum_elements}}, .region = Region::sum},
                       shared_buffer(4, 0),
                       shared_buffer(large, 64)};
    program.steps = {step({}, {1}, 1), step({}, {0}, 0), step({0}, {1}, 4), step({1}, {2}, large),
                     step({2}, {1}, 4)};
    program.stages = {{false, 0, 1, {}},
                      {true, 1, 1, {{.buffer = 0}}},
                      {false, 2, 1, {}},
                      {false, 3, 1, {}},
                      {false, 4, 1, {}}};
    return program;
}

// Goal: what is not worth dividing needs no barrier of its own. The first stage has none before it.
TEST(RunPlan, leaves_small_stages_and_sums_to_whoever_comes_last_to_the_barrier) {
    const auto flags = [](const Program& program, const Team& team) {
        std::pair<Bools, Bools> result;
        for (const RunPlan::StagePlan& stage : make_run_plan(program, team).stages) {
            result.first.push_back(stage.runs_at_barrier);
            result.second.push_back(stage.adds_at_barrier);
        }
        return result;
    };
    const Bools none(5, false), runs{false, false, true, false, true};
    EXPECT_EQ(flags(program_of_small_stages(64), {8, 2}),
              std::pair(runs, Bools{false, true, false, false, false}));
    EXPECT_EQ(flags(program_of_small_stages(64), {8, 1}), std::pair(none, none));
    EXPECT_EQ(flags(program_of_small_stages(1 << 20), {8, 2}), std::pair(runs, none));
    Program in_blocks = program_of_small_stages(64);
    in_blocks.stages[1].block_step_count = 1;
    in_blocks.steps[1].batches_cores = true;
    EXPECT_EQ(flags(in_blocks, {8, 2}).second, none);
}

TEST(RunPlan, waits_for_a_scalar_that_one_worker_computes_for_all) {
    EXPECT_EQ(barriers({shared_buffer(1, 0), shared_buffer(large, 64), shared_buffer(1, 0)},
                       {step({}, {0}, 1), step({0}, {1}, large), step({}, {2}, 1)}),
              (Bools{false, true, true}));
}

/// Which worker computes each step of two.
std::vector<int> workers_of(std::vector<Buffer> buffers, std::vector<Step> steps) {
    Program program;
    program.buffers = std::move(buffers);
    program.stages = {{false, 0, steps.size(), {}}};
    program.steps = std::move(steps);
    std::vector<int> result;
    for (const auto& plan : make_run_plan(program, {8, 2}).steps)
        result.push_back(plan.worker);
    return result;
}

TEST(RunPlan, deals_whole_steps_out_to_the_workers) {
    const std::vector<Buffer> buffers{
        shared_buffer(large, 0), shared_buffer(large, 4 * large), shared_buffer(large, 8 * large),
        shared_buffer(large, 12 * large), shared_buffer(10, 16 * large)};
    const std::vector<Step> steps{step({}, {0}, 0), step({}, {1}, 0), step({1}, {2}, 0),
                                  step({0}, {3}, 0), step({}, {4}, 0)};
    EXPECT_EQ(workers_of(buffers, steps), (std::vector<int>{0, 1, 1, 0, 0}));
    EXPECT_EQ(barriers(buffers, steps), (Bools{false, false, false, false, false}));
}

TEST(RunPlan, waits_for_what_both_workers_computed) {
    const std::vector<Buffer> buffers{shared_buffer(large, 0), shared_buffer(large, 4 * large),
                                      shared_buffer(large, 8 * large)};
    EXPECT_EQ(barriers(buffers, {step({}, {0}, 0), step({}, {1}, 0), step({0, 1}, {2}, 0)}),
              (Bools{false, false, true}));
}

TEST(RunPlan, keeps_small_steps_with_one_worker_and_without_waits) {
    Program program;
    program.buffers = {shared_buffer(100, 0), shared_buffer(100, 400)};
    program.steps = {step({}, {0}, 100), step({0}, {1}, 100)};
    program.stages = {{false, 0, 2, {}}};
    for (const auto& plan : make_run_plan(program, {8, 2}).steps) {
        EXPECT_FALSE(plan.sliced);
        EXPECT_FALSE(plan.barrier_before);
    }
}

TEST(TemporaryBytes, count_every_copy_of_every_arena) {
    Program program;
    program.arena_bytes[std::size_t(Region::worker)] = 1;
    program.arena_bytes[std::size_t(Region::core)] = 100;
    program.arena_bytes[std::size_t(Region::shared)] = 10000;
    program.arena_bytes[std::size_t(Region::sum)] = 1000000;
    program.buffers = {shared_buffer(16, 0), shared_buffer(16, 64)};
    program.stages = {{true, 0, 0, {{0, Combine::add}}}};
    // 8 cores on 2 workers: 2 roots, and 2 partials more for each worker.
    EXPECT_EQ(temporary_bytes(program, {8, 2}), 2 + 800 + 10000 + 6000000);
    EXPECT_EQ(temporary_bytes(program, {1, 1}), 1 + 100 + 10000 + 1000000);
    // In the arena of the replicas, which is counted.
    program.stages[0].sums[0].waiting = 1;
    EXPECT_EQ(temporary_bytes(program, {8, 2}), 2 + 800 + 10000 + 2000000);
}

}    // namespace
}    // namespace slipway
