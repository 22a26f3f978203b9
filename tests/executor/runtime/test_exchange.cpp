#include "executor/runtime/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "executor/runtime/reduction_tree.h"
#include "executor/runtime/run.h"

namespace slipway {
namespace {

using testing::ElementsAre;

constexpr std::int64_t sum_elements = 64, sum_bytes = sum_elements * 4;

/// Twice of everything, as if another process had the same; `before` is called with the number of
/// the call.
class Twin final : public Collectives {
public:
    std::function<void(int)> before = [](int) {};
    int calls = 0;
    void all_reduce(Combine, DType dtype, std::span<std::byte> values) override {
        before(calls++);
        std::vector<std::byte> other(values.begin(), values.end());
        combine(Combine::add, dtype, values.data(), other.data(), 0,
                std::int64_t(values.size() / size_in_bytes(dtype)));
    }
    void reduce_scatter(Combine, DType, std::span<const std::span<std::byte>>) override {}
    void gather_shards(std::span<const std::span<std::byte>>) override {}
    int rank() const override { return 0; }
    int count() const override { return 2; }
    std::int64_t staging_bytes(std::int64_t value_bytes) const override { return 2 * value_bytes; }
};

void copy(const KernelCall& call) {
    std::copy_n(call.reads[0], sum_bytes, call.writes[0]);
}

/// Two per-core stages with a sum each, then a replicated one that copies both out: the second
/// stage reads nothing of the first one's sum.
Program two_stages(const Kernel& second, std::int64_t second_offset) {
    const Shape shape{DType::f32, {sum_elements}};
    Program program;
    program.inputs = {{shape, true, {}}};
    program.outputs = {{shape, false, {}}, {shape, false, {}}};
    program.buffers = {{shape, Region::input, 0, 0},
                       {shape, Region::sum, 0, 0},
                       {shape, Region::sum, 0, second_offset},
                       {shape, Region::output, 0, 0},
                       {shape, Region::output, 1, 0}};
    program.steps = {{"first", {0}, {1}, {}, 0, copy},
                     {"second", {0}, {2}, {}, 0, second},
                     {"out", {1}, {3}, {}, 0, copy},
                     {"out", {2}, {4}, {}, 0, copy}};
    program.stages = {
        {true, 0, 1, {{1, Combine::add}}}, {true, 1, 1, {{2, Combine::add}}}, {false, 2, 2, {}}};
    program.arena_bytes[std::size_t(Region::sum)] = second_offset + sum_bytes;
    return program;
}

std::vector<std::vector<float>> run(Runtime& runtime, const Program& program) {
    std::vector<float> ones(sum_elements, 1);
    std::vector<std::vector<float>> outputs(2, std::vector<float>(sum_elements));
    Bindings bindings{{{}}, {}};
    for (int core = 0; core < runtime.team().cores; ++core)
        bindings.inputs[0].push_back(reinterpret_cast<std::byte*>(ones.data()));
    for (std::vector<float>& output : outputs)
        bindings.outputs.push_back({reinterpret_cast<std::byte*>(output.data())});
    runtime.run(program, make_run_plan(program, runtime.team()), bindings);
    return outputs;
}

// Goal: the cores' work goes on while a sum is on its way.
// Method: the first exchange ends when a kernel of the next stage has run.
TEST(Exchange, hides_behind_the_work_that_does_not_need_it) {
    for (const int workers : {1, 2}) {
        std::promise<void> ran;
        std::once_flag once;
        bool was_there = false;
        Twin twin;
        twin.before = [&](int call) {
            if (call == 0)
                was_there = ran.get_future().wait_for(std::chrono::seconds(60)) ==
                            std::future_status::ready;
        };
        const Program program = two_stages(
            [&](const KernelCall& call) {
                copy(call);
                std::call_once(once, [&] { ran.set_value(); });
            },
            sum_bytes);
        Runtime runtime({8, workers}, {}, &twin);
        EXPECT_THAT(run(runtime, program), ElementsAre(std::vector<float>(sum_elements, 16),
                                                       std::vector<float>(sum_elements, 16)));
        EXPECT_TRUE(was_there);
        EXPECT_EQ(runtime.times().exchanges.size(), 2U);
        EXPECT_GT(runtime.times().exchanging().count(), 0);
    }
}

TEST(Exchange, a_stage_waits_for_the_memory_of_sums_on_their_way) {
    const Program apart = two_stages(copy, sum_bytes), together = two_stages(copy, 0);
    EXPECT_THAT(make_exchange_plan(apart, 8).needed, ElementsAre(0, 0, 1, 2));
    EXPECT_THAT(make_exchange_plan(together, 8).needed, ElementsAre(0, 1, 1, 2));
}

// Goal: what a failed process would send is not sent, and its runtime can be used again.
TEST(Exchange, nothing_is_sent_after_a_failure) {
    for (const int workers : {1, 2}) {
        Twin twin;
        bool fails = true;
        const Program program = two_stages(
            [&](const KernelCall& call) {
                if (fails) throw std::runtime_error("out of paper");
                copy(call);
            },
            sum_bytes);
        Runtime runtime({8, workers}, {}, &twin);
        EXPECT_THROW(run(runtime, program), std::runtime_error);
        EXPECT_LE(twin.calls, 1);
        fails = false;
        EXPECT_THAT(run(runtime, program), ElementsAre(std::vector<float>(sum_elements, 16),
                                                       std::vector<float>(sum_elements, 16)));
    }
}

/// One per-core stage whose two block steps make a sum each.
Program two_block_steps(std::int64_t elements) {
    const Shape shape{DType::f32, {elements}};
    Program program;
    program.inputs = {{shape, true, {}}};
    program.buffers = {{shape, Region::input, 0, 0},
                       {shape, Region::sum, 0, 0},
                       {shape, Region::sum, 0, elements * 4},
                       {shape, Region::shared, 0, 0}};
    program.steps = {{"work", {0}, {3}, {}, 0, copy},
                     {"first", {0}, {2}, {}, 0, copy, true},
                     {"second", {0}, {1}, {}, 0, copy, true}};
    program.stages = {{true, 0, 3, {{1, Combine::add, true}, {2, Combine::add, true}}, 2}};
    return program;
}

TEST(Exchange, sums_of_block_steps_go_as_they_are_made) {
    constexpr std::int64_t large = 2 << 20;
    const ExchangePlan each = make_exchange_plan(two_block_steps(large), 8);
    ASSERT_EQ(each.parts.size(), 2U);
    EXPECT_THAT(each.parts[0].sums, ElementsAre(1));
    EXPECT_EQ(each.parts[0].last_step, 1U);
    EXPECT_THAT(each.parts[1].sums, ElementsAre(0));
    EXPECT_TRUE(each.parts[0].ends_with_step);
    // Small ones together; those of several blocks when the blocks have been added up.
    EXPECT_EQ(make_exchange_plan(two_block_steps(sum_elements), 8).parts.size(), 1U);
    const ExchangePlan of_blocks = make_exchange_plan(two_block_steps(large), 16);
    ASSERT_EQ(of_blocks.parts.size(), 1U);
    EXPECT_FALSE(of_blocks.parts[0].ends_with_step);
}

// Goal: the first updates run while the sums of the others travel.
TEST(Exchange, sums_of_cores_go_in_the_order_of_their_use) {
    constexpr std::int64_t large = 2 << 20;
    const auto plan_of = [](std::int64_t elements) {
        Program program = two_block_steps(elements);
        for (Step& step : program.steps)
            step.batches_cores = false;
        program.outputs = {{program.inputs[0].shape, false, {}},
                           {program.inputs[0].shape, false, {}}};
        program.buffers.push_back({program.inputs[0].shape, Region::output, 0, 0});
        program.buffers.push_back({program.inputs[0].shape, Region::output, 1, 0});
        program.steps.push_back({"out", {2}, {4}, {}, 0, copy});
        program.steps.push_back({"out", {1}, {5}, {}, 0, copy});
        program.stages = {{true, 0, 3, {{1, Combine::add}, {2, Combine::add}}}, {false, 3, 2, {}}};
        return make_exchange_plan(program, 8);
    };
    const ExchangePlan each = plan_of(large);
    ASSERT_EQ(each.parts.size(), 2U);
    EXPECT_THAT(each.parts[0].sums, ElementsAre(1));
    EXPECT_THAT(each.parts[1].sums, ElementsAre(0));
    EXPECT_THAT(each.needed, ElementsAre(0, 0, 0, 1, 2));
    const ExchangePlan together = plan_of(sum_elements);
    ASSERT_EQ(together.parts.size(), 1U);
    EXPECT_THAT(together.parts[0].sums, ElementsAre(1, 0));
}

TEST(Exchange, the_memory_it_takes_is_bounded) {
    const Program program = two_block_steps(std::int64_t{64} << 20);
    const Twin twin;
    EXPECT_EQ(exchange_bytes(program, make_exchange_plan(program, 8), twin),
              packed_bytes_max + 2 * sent_bytes_max);
    const Program small = two_block_steps(sum_elements);
    EXPECT_EQ(exchange_bytes(small, make_exchange_plan(small, 8), twin),
              2 * sum_bytes + 2 * 2 * sum_bytes);
}

}    // namespace
}    // namespace slipway
