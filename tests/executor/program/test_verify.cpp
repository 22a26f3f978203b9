#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/program/program.h"

namespace slipway {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Region arenas[] = {Region::worker, Region::core, Region::shared, Region::sum};

Buffer buffer_at(Region region, std::int64_t offset, std::size_t position = 0) {
    return {.shape = {DType::f32, {16}}, .region = region, .position = position, .offset = offset};
}

Step step(std::vector<BufferId> reads, std::vector<BufferId> writes) {
    return {.name = "work",
            .reads = std::move(reads),
            .writes = std::move(writes),
            .in_place = {},
            .elements = 0,
            .kernel = [](const KernelCall&) {}};
}

/// input 0 (replicated, donated to output 0), input 1 (per core), output 1 (per core):
/// stage 0 replicated: 2 <- 0.  stage 1 per core: 3 <- 1, 2; 4 <- 3; all_reduce 4; 6 <- 3.
/// stage 2 replicated: 5 <- 4; 0 <- 0, 5.
Program sound_program() {
    Program program;
    const Shape shape{DType::f32, {16}};
    program.inputs = {{shape, false, 0}, {shape, true, {}}};
    program.outputs = {{shape, false, 0}, {shape, true, {}}};
    program.buffers = {buffer_at(Region::input, 0, 0), buffer_at(Region::input, 0, 1),
                       buffer_at(Region::shared, 0),   buffer_at(Region::worker, 0),
                       buffer_at(Region::sum, 0),      buffer_at(Region::shared, 64),
                       buffer_at(Region::output, 0, 1)};
    program.steps = {step({0}, {2}), step({1, 2}, {3}), step({3}, {4}),
                     step({3}, {6}), step({4}, {5}),    step({0, 5}, {0})};
    program.stages = {{false, 0, 1, {}}, {true, 1, 3, {{4, Combine::add}}}, {false, 4, 2, {}}};
    for (const Region region : arenas)
        program.arena_bytes[std::size_t(region)] = 128;
    return program;
}

/// Two replicas that run together, whose contributions to %4 wait in %7.
void let_wait(Program& program, Region region, std::int64_t offset, std::int64_t bytes) {
    program.replicas_together = 2;
    program.buffers.push_back({.shape = {DType::u8, {bytes}}, .region = region, .offset = offset});
    program.stages[1].sums[0].waiting = 7;
}

TEST(ProgramVerifier, accepts_a_sound_program) {
    EXPECT_THAT(find_problems(sound_program()), IsEmpty());
}

struct Fault {
    const char* name;
    void (*make)(Program&);
    const char* problem;
};

const Fault faults[] = {
    {"a_buffer_nobody_has", [](Program& p) { p.steps[0].reads = {99}; }, "there is no buffer"},
    {"a_read_before_the_write", [](Program& p) { p.steps[0].reads = {5}; }, "before written"},
    {"a_worker_value_used_by_a_replicated_step", [](Program& p) { p.steps[4].reads = {3}; },
     "of one core"},
    {"a_per_core_input_used_by_a_replicated_step", [](Program& p) { p.steps[4].reads = {1}; },
     "of one core"},
    {"a_input_written_that_is_not_donated", [](Program& p) { p.steps[3].writes = {1}; },
     "may not write"},
    {"a_donated_input_written_by_one_core", [](Program& p) { p.steps[3].writes = {0}; },
     "may not write"},
    {"a_shared_buffer_written_by_one_core", [](Program& p) { p.steps[3].writes = {5}; },
     "may not write"},
    {"a_sum_that_is_not_written", [](Program& p) { p.steps[2].writes = {6}; }, "does not write"},
    {"a_sum_in_the_wrong_region", [](Program& p) { p.stages[1].sums[0].buffer = 3; },
     "outside region sum"},
    {"a_sum_of_a_replicated_stage",
     [](Program& p) {
         p.stages[2].sums = {{4, Combine::add}};
     },
     "replicated stage"},
    {"an_output_never_written", [](Program& p) { p.steps[3].writes = {3}; }, "never written"},
    {"an_output_over_a_input_that_is_not_given",
     [](Program& p) {
         p.inputs[0].donated.reset();
         p.steps[5].writes = {5};
     },
     "not given"},
    {"a_buffer_outside_its_arena", [](Program& p) { p.buffers[5].offset = 128; }, "outside"},
    {"a_buffer_off_its_alignment", [](Program& p) { p.buffers[5].offset = 32; }, "aligned"},
    {"a_shape_that_does_not_fit_its_slot", [](Program& p) { p.buffers[0].shape.dims = {15}; },
     "does not fit"},
    {"two_live_buffers_in_one_place",
     [](Program& p) {
         p.buffers.push_back(buffer_at(Region::worker, 0));
         p.steps[2].writes.push_back(7);
     },
     "share bytes"},
    {"a_shared_buffer_taken_while_other_cores_still_read_it",
     [](Program& p) {
         p.buffers[5].offset = 0;
         p.steps[5].reads = {0, 2};
     },
     "share bytes"},
    {"stages_that_leave_a_step_out", [](Program& p) { p.stages[2].step_count = 1; }, "cover"},
    {"a_step_without_a_kernel", [](Program& p) { p.steps[1].kernel = nullptr; }, "no kernel"},
    {"a_step_of_one_core_that_joins_all", [](Program& p) { p.steps[1].batches_cores = true; },
     "joins all"},
    {"replicas_of_a_step_together_in_a_program_that_runs_them_apart",
     [](Program& p) { p.steps[1].together = p.steps[1].kernel; }, "no replicas run together"},
    {"replicas_of_an_input_together",
     [](Program& p) {
         p.replicas_together = 2;
         p.steps[1].together = p.steps[1].kernel;
     },
     "do not lie together"},
    {"a_contribution_that_replicas_together_touch_twice",
     [](Program& p) {
         p.replicas_together = 2;
         p.steps[3].reads = {4};
     },
     "touch in 2 steps"},
    {"a_first_step_of_a_stage_that_continues", [](Program& p) { p.steps[1].continues = true; },
     "no replica goes on with it"},
    {"a_step_of_a_replicated_stage_that_continues", [](Program& p) { p.steps[5].continues = true; },
     "no replica goes on with it"},
    {"a_step_that_continues_one_of_all_replicas",
     [](Program& p) {
         p.replicas_together = 2;
         p.steps[1] = step({2}, {3});
         p.steps[1].together = p.steps[1].kernel;
         p.steps[2].continues = true;
     },
     "no replica goes on with it"},
    {"a_value_in_turn_that_the_next_replica_writes_over",
     [](Program& p) {
         p.replicas_together = 2;
         p.buffers[3].is_in_turn = true;
         p.steps[2].continues = true;
     },
     "not done with"},
    {"a_value_in_turn_that_outlives_its_stage",
     [](Program& p) {
         p.replicas_together = 2;
         p.buffers[3].is_in_turn = true;
         p.buffers[3].region = Region::core;
         p.steps[2].continues = p.steps[3].continues = true;
         p.steps[4].reads = {3, 4};
         p.steps[4].batches_cores = true;
     },
     "not done with"},
    {"values_of_replicas_that_share_bytes_in_steps_in_one_go",
     [](Program& p) {
         p.replicas_together = 2;
         p.buffers.push_back(buffer_at(Region::worker, 0));
         p.buffers[7].shape.dims = {32};
         p.steps[3] = step({7}, {6});
         p.steps.insert(p.steps.begin() + 3, step({1}, {7}));
         p.stages[1].step_count = 4;
         p.stages[2].first_step = 5;
         for (const std::size_t i : {2U, 3U, 4U})
             p.steps[i].continues = true;
     },
     "share bytes"},
    {"contributions_that_wait_in_too_few_bytes",
     [](Program& p) { let_wait(p, Region::worker, 64, 0); }, "have no place"},
    {"contributions_that_wait_where_all_cores_read",
     [](Program& p) { let_wait(p, Region::shared, 64, 32); }, "have no place"},
    {"contributions_that_wait_in_turn",
     [](Program& p) {
         let_wait(p, Region::worker, 64, 64);
         p.buffers[7].is_in_turn = true;
     },
     "have no place"},
    {"contributions_that_wait_in_what_a_step_writes",
     [](Program& p) {
         let_wait(p, Region::worker, 64, 32);
         p.steps[2].writes.push_back(7);
     },
     "have no place"},
    {"contributions_that_wait_where_others_do",
     [](Program& p) {
         let_wait(p, Region::worker, 64, 32);
         p.buffers.push_back(buffer_at(Region::sum, 64));
         p.stages[1].sums.push_back({8, Combine::add});
         p.stages[1].sums[1].waiting = 7;
         p.steps[2].writes.push_back(8);
     },
     "have no place"},
    {"contributions_that_wait_in_a_value_of_the_replicas",
     [](Program& p) { let_wait(p, Region::worker, 0, 32); }, "share bytes"},
    {"contributions_that_wait_in_no_buffer",
     [](Program& p) {
         p.replicas_together = 2;
         p.stages[1].sums[0].waiting = 70;
     },
     "no replica's contribution waits"},
    {"contributions_of_replicas_one_after_the_other_that_wait_in_a_buffer",
     [](Program& p) {
         let_wait(p, Region::worker, 64, 64);
         p.replicas_together = 1;
     },
     "no replica's contribution waits"},
    {"a_block_step_of_one_core", [](Program& p) { p.stages[1].block_step_count = 1; }, "joins all"},
    {"a_replicated_stage_with_block_steps", [](Program& p) { p.stages[2].block_step_count = 1; },
     "block steps"},
    {"a_block_step_that_reads_what_the_next_core_writes_over",
     [](Program& p) {
         p.stages[1].block_step_count = 1;
         p.steps[3] = step({3}, {4});
         p.steps[3].batches_cores = true;
     },
     "gone when another core has run"},
    {"a_sum_of_cores_that_a_block_step_writes",
     [](Program& p) {
         p.buffers[3].region = Region::core;
         p.steps[2] = step({3}, {6});
         p.steps[3] = step({3}, {4});
         p.steps[3].batches_cores = true;
         p.stages[1].block_step_count = 1;
     },
     "of cores and of blocks"},
    {"a_worker_value_kept_for_a_later_stage",
     [](Program& p) {
         p.steps.push_back(step({3}, {6}));
         p.stages.push_back({true, 6, 1, {}});
     },
     "outlive"},
};

class FaultyProgram : public testing::TestWithParam<Fault> {};

TEST_P(FaultyProgram, is_refused) {
    Program program = sound_program();
    GetParam().make(program);
    EXPECT_THAT(find_problems(program), Contains(HasSubstr(GetParam().problem)));
}

INSTANTIATE_TEST_SUITE_P(Verifier, FaultyProgram, testing::ValuesIn(faults),
                         [](const auto& fault) { return std::string(fault.param.name); });

TEST(ProgramVerifier, lets_replicas_run_together_whose_values_lie_so) {
    Program program = sound_program();
    program.replicas_together = 2;
    program.steps[1] = step({2}, {3});
    program.steps[1].together = program.steps[1].kernel;
    EXPECT_THAT(find_problems(program), IsEmpty());
}

// Goal: in turn, the bytes of %3 are free for %7 once a replica has read them.
Program with_values_in_turn(Region region) {
    Program program = sound_program();
    program.replicas_together = 2;
    program.buffers[3].region = region;
    program.buffers.push_back(buffer_at(region, 0));
    program.steps[3] = step({7}, {6});
    program.steps.insert(program.steps.begin() + 3, step({1}, {7}));
    program.stages[1].step_count = 4;
    program.stages[2].first_step = 5;
    for (const std::size_t i : {2U, 3U, 4U})
        program.steps[i].continues = true;
    program.buffers[3].is_in_turn = program.buffers[7].is_in_turn = true;
    return program;
}

TEST(ProgramVerifier, lets_replicas_have_a_value_in_turn) {
    for (const Region region : {Region::worker, Region::core})
        EXPECT_THAT(find_problems(with_values_in_turn(region)), IsEmpty());
}

TEST(ProgramVerifier, lets_contributions_wait_in_bytes_of_their_own) {
    for (const Region region : {Region::worker, Region::core}) {
        Program program = sound_program();
        let_wait(program, region, 64, 32);
        EXPECT_THAT(find_problems(program), IsEmpty());
        EXPECT_THAT(print(program), HasSubstr(" waiting %7@"));
    }
}

// Goal: %7 has the bytes of %3, replica by replica: a replica has read its %3 when it writes %7.
TEST(ProgramVerifier, lets_values_of_replicas_follow_each_other_in_the_same_bytes) {
    Program program = with_values_in_turn(Region::worker);
    program.buffers[3].is_in_turn = program.buffers[7].is_in_turn = false;
    EXPECT_THAT(find_problems(program), IsEmpty());
    program.steps[4].reads = {3, 7};
    EXPECT_THAT(find_problems(program), Contains(HasSubstr("share bytes")));
}

TEST(ProgramVerifier, lets_a_step_that_joins_the_cores_read_what_each_keeps) {
    Program program = sound_program();
    program.steps[4].reads = {1, 3, 4};
    program.steps[4].batches_cores = true;
    EXPECT_THAT(find_problems(program), Contains(HasSubstr("outlive")));
    program.buffers[3].region = Region::core;
    EXPECT_THAT(find_problems(program), IsEmpty());
}

TEST(ProgramVerifier, lets_a_block_step_contribute_for_its_cores) {
    Program program = sound_program();
    program.buffers[3].region = Region::core;
    program.steps[2] = step({3}, {6});
    program.steps[3] = step({3}, {4});
    program.steps[3].batches_cores = true;
    program.stages[1].block_step_count = 1;
    program.stages[1].sums[0].by_block = true;
    EXPECT_THAT(find_problems(program), IsEmpty());
    EXPECT_THAT(print(program), HasSubstr("  for each 8 cores\n"));
}

TEST(ProgramVerifier, lets_a_result_take_its_operands_place_only_when_declared) {
    Program program = sound_program();
    program.buffers.push_back(buffer_at(Region::worker, 0));
    program.steps[3] = step({3}, {7});
    program.steps.insert(program.steps.begin() + 4, step({7}, {6}));
    program.stages[1].step_count = 4;
    program.stages[2].first_step = 5;
    EXPECT_THAT(find_problems(program), Contains(HasSubstr("share bytes")));
    program.steps[3].in_place = {{0, 0}};
    EXPECT_THAT(find_problems(program), IsEmpty());
    program.buffers[7].shape.dims = {15};
    EXPECT_THAT(find_problems(program), Contains(HasSubstr("share bytes")));
    program.buffers[7].shape.dims = {16};
    program.steps[3].reads = {3, 3};
    EXPECT_THAT(find_problems(program), Contains(HasSubstr("forbids the reuse")));
}

TEST(ProgramVerifier, lets_only_sums_of_f32_be_rounded_to_bf16) {
    Program program = sound_program();
    program.stages[1].sums[0].rounds_to_bf16 = true;
    EXPECT_THAT(find_problems(program), IsEmpty());
    EXPECT_THAT(print(program), HasSubstr("all_reduce add as bf16 %4@sum+0\n"));
    program.stages[1].sums[0].combine = Combine::maximum;
    EXPECT_THAT(find_problems(program), Contains(HasSubstr("is rounded to bf16")));
}

TEST(ProgramPrint, shows_slots_stages_steps_and_places) {
    const std::string text = print(sound_program());
    EXPECT_THAT(text, HasSubstr("input0 f32[16] donated 0\n"));
    EXPECT_THAT(text, HasSubstr("output1 f32[16] per_core\n"));
    EXPECT_THAT(text,
                HasSubstr("stage per_core\n    %3@worker+0 <- work <- %1@input1, %2@shared+0"));
    EXPECT_THAT(text, HasSubstr("all_reduce add %4@sum+0\n"));
}

}    // namespace
}    // namespace slipway
