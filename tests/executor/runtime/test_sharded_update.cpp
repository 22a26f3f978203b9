#include "executor/runtime/sharded_update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "executor/runtime/process_sums.h"
#include "executor/runtime/run.h"
#include "tests/executor/runtime/linked_processes.h"

namespace slipway {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t elements = 70'001;    // no multiple of a line, in any number of shards
constexpr std::size_t weight = 1, momentum = 2;
const ShardedUpdate update_of_momentum{.state = {momentum}};

/// momentum = 0.5 momentum + sum; weight = weight - 0.25 momentum. Reads sum, weight, momentum.
void update(const KernelCall& call) {
    const auto* const sum = reinterpret_cast<const float*>(call.reads[0]);
    auto* const new_weight = reinterpret_cast<float*>(call.writes[0]);
    auto* const new_momentum = reinterpret_cast<float*>(call.writes[1]);
    for (std::int64_t i = call.begin; i < call.end; ++i) {
        new_momentum[i] = 0.5F * new_momentum[i] + sum[i];
        new_weight[i] -= 0.25F * new_momentum[i];
    }
}

/// Each core's gradient is its input and the weight; then the update.
///   inputs   0 a core's numbers, 1 the weight, 2 its momentum
Program training_step(std::int64_t count = elements) {
    const Shape shape{DType::f32, {count}};
    const auto gradient = [count](const KernelCall& call) {
        const auto* const numbers = reinterpret_cast<const float*>(call.reads[0]);
        const auto* const weights = reinterpret_cast<const float*>(call.reads[1]);
        for (std::int64_t i = 0; i < count; ++i)
            reinterpret_cast<float*>(call.writes[0])[i] = numbers[i] + 0.125F * weights[i];
    };
    Program program;
    program.inputs = {{shape, true, {}}, {shape, false, 0}, {shape, false, 1}};
    program.outputs = {{shape, false, weight}, {shape, false, momentum}};
    program.buffers = {{shape, Region::input, 0, 0},
                       {shape, Region::input, weight, 0},
                       {shape, Region::input, momentum, 0},
                       {shape, Region::sum, 0, 0},
                       {shape, Region::shared, 0, 0}};
    program.steps = {{"gradient", {0, 1}, {3}, {}, 0, gradient},
                     {"update", {3, 1, 2}, {1, 2}, {{1, 0}, {2, 1}}, count, update}};
    program.stages = {{true, 0, 1, {{3, Combine::add}}}, {false, 1, 1, {}}};
    const std::int64_t bytes = (count * 4 + 63) / 64 * 64;
    program.arena_bytes[std::size_t(Region::sum)] = bytes;
    program.arena_bytes[std::size_t(Region::shared)] = bytes;
    return program;
}

using Numbers = std::vector<float>;

std::vector<Numbers> random_numbers(int count) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<Numbers> all(static_cast<std::size_t>(count), Numbers(elements));
    for (Numbers& numbers : all)
        for (float& number : numbers)
            number = uniform(random) * std::exp2(float(random() % 20));
    return all;
}

/// What a process trains: two steps of it.
struct Trained {
    Numbers weights = Numbers(elements, 1), momenta = Numbers(elements, 0);

    void train(Runtime& runtime, const Program& program, std::span<Numbers> replicas,
               const std::optional<ShardedUpdate>& sharded) {
        const auto bytes = [](Numbers& numbers) {
            return reinterpret_cast<std::byte*>(numbers.data());
        };
        Bindings bindings{{{}, {bytes(weights)}, {bytes(momenta)}},
                          {{bytes(weights)}, {bytes(momenta)}}};
        for (Numbers& replica : replicas)
            bindings.inputs[0].push_back(bytes(replica));
        const RunPlan plan = make_run_plan(program, runtime.team(), sharded);
        for (int step = 0; step < 2; ++step)
            runtime.run(program, plan, bindings);
        before_gather = momenta;
        const std::vector<std::byte*> inputs{nullptr, bytes(weights), bytes(momenta)};
        runtime.gather(program, plan, inputs);
    }

    Numbers before_gather;
};

// Goal: processes that update a shard each end with the bits of one process that updates all.
// Method: the linked processes overwrite the sums of shards that are another's.
TEST(ShardedUpdate, has_the_bits_of_one_process) {
    const Program program = training_step();
    ASSERT_THAT(find_problems(program), IsEmpty());
    for (const int processes : {2, 3, 4}) {
        std::vector<Numbers> replicas = random_numbers(8 * processes);
        Trained expected;
        Runtime whole({8 * processes, 2});
        expected.train(whole, program, replicas, {});
        for (const int workers : {1, 2}) {
            LinkedProcesses linked(processes);
            std::vector<Trained> trained(static_cast<std::size_t>(processes));
            std::vector<std::jthread> threads;
            for (int rank = 0; rank < processes; ++rank)
                threads.emplace_back([&, rank] {
                    LinkedProcesses::Member member(linked, rank);
                    Runtime runtime({8, workers}, {}, &member);
                    trained[std::size_t(rank)].train(
                        runtime, program, std::span(replicas).subspan(std::size_t(rank) * 8, 8),
                        update_of_momentum);
                    EXPECT_EQ(member.calls, 0);
                    EXPECT_EQ(member.scattered, 2);
                    EXPECT_EQ(member.gathered, 3) << "the weights of two steps, the momenta once";
                });
            threads.clear();
            for (int rank = 0; rank < processes; ++rank) {
                const Trained& own = trained[std::size_t(rank)];
                EXPECT_EQ(own.weights, expected.weights) << processes << " " << rank;
                EXPECT_EQ(own.momenta, expected.momenta) << processes << " " << rank;
                const ElementRange shard = shard_of(elements, rank, processes);
                for (std::int64_t i = 0; i < elements; ++i)
                    ASSERT_EQ(own.before_gather[std::size_t(i)] != 0,
                              i >= shard.begin && i < shard.end)
                        << i;
            }
        }
    }
}

TEST(ShardedUpdate, is_of_large_elementwise_updates_of_what_nobody_else_reads) {
    const ShardPlan plan = make_shard_plan(training_step(), update_of_momentum);
    EXPECT_THAT(plan.steps, ElementsAre(false, true));
    EXPECT_THAT(plan.sums, ElementsAre(3));
    ASSERT_EQ(plan.gathered.size(), 1U);
    EXPECT_EQ(plan.gathered[0].step, 1U);
    EXPECT_EQ(plan.gathered[0].input, weight);
    EXPECT_THAT(plan.in_shards, ElementsAre(momentum));
}

void expect_whole(const Program& program, const ShardedUpdate& sharded, const char* why) {
    const ShardPlan plan = make_shard_plan(program, sharded);
    EXPECT_THAT(plan.sums, IsEmpty()) << why;
    EXPECT_THAT(plan.gathered, IsEmpty()) << why;
    EXPECT_THAT(plan.in_shards, IsEmpty()) << why;
}

/// With a step after the update that reads `id` and writes memory of its own.
Program with_reader(BufferId id) {
    Program program = training_step();
    program.steps.push_back({"read", {id}, {4}, {}, elements, update});
    program.stages[1].step_count = 2;
    return program;
}

TEST(ShardedUpdate, leaves_whole_what_somebody_else_reads) {
    expect_whole(training_step(1000), update_of_momentum, "small");
    expect_whole(with_reader(3), update_of_momentum, "a norm of the gradients");
    expect_whole(with_reader(1), update_of_momentum, "the new weights, in the same step");
    expect_whole(with_reader(2), update_of_momentum, "the state");
    expect_whole(training_step(), {}, "more would be gathered than the sums have");
    Program program = training_step();
    program.stages[0].sums[0].rounds_to_bf16 = true;
    expect_whole(program, update_of_momentum, "weights would be sent as f32, the sums are as bf16");
    program = training_step();
    program.steps[1].elements = 0;
    expect_whole(program, update_of_momentum, "cannot be cut");
    program = training_step();
    program.inputs[weight].donated.reset();
    expect_whole(program, update_of_momentum, "weights are not overwritten");
}

// Goal: what one step must have whole stays whole for another one, too.
TEST(ShardedUpdate, is_of_all_who_read_a_sum_or_of_none) {
    Program program = with_reader(3);
    program.steps[2] = {"update", {3, 1}, {1}, {{1, 0}}, elements, update};
    expect_whole(program, update_of_momentum, "both write the weight");
    EXPECT_THAT(make_exchange_plan(training_step(), 8).shards.steps, IsEmpty()) << "not asked for";
}

/// The lengths of the shards of each call.
class Lengths final : public Collectives {
public:
    std::vector<std::vector<std::size_t>> scattered, gathered;
    void all_reduce(Combine, DType, std::span<std::byte>) override { FAIL(); }
    void reduce_scatter(Combine, DType, std::span<const std::span<std::byte>> shards) override {
        note(shards, scattered);
    }
    void gather_shards(std::span<const std::span<std::byte>> shards) override {
        note(shards, gathered);
    }
    int rank() const override { return 0; }
    int count() const override { return 3; }
    std::int64_t staging_bytes(std::int64_t value_bytes) const override { return value_bytes; }

private:
    static void note(std::span<const std::span<std::byte>> shards,
                     std::vector<std::vector<std::size_t>>& to) {
        std::vector<std::size_t>& lengths = to.emplace_back();
        for (const std::span<std::byte> shard : shards)
            lengths.push_back(shard.size());
    }
};

// Goal: no call sends more than sent_bytes_max, all shards come to all values.
TEST(ShardedUpdate, sends_large_values_in_several_calls) {
    Numbers values(10'000'001);
    Lengths lengths;
    std::vector<std::byte> packed;
    std::vector<ProcessValues> sent;
    for (const Transfer transfer : {Transfer::reduce_scatter, Transfer::gather_shards})
        sent.push_back({.values = std::as_writable_bytes(std::span(values)), .transfer = transfer});
    combine_processes(lengths, sent, packed);
    EXPECT_EQ(lengths.scattered, lengths.gathered);
    ASSERT_EQ(lengths.scattered.size(), 3U);
    std::size_t all = 0;
    for (const auto& call : lengths.scattered) {
        std::size_t bytes = 0;
        for (const std::size_t length : call)
            bytes += length;
        EXPECT_LE(bytes, std::size_t(sent_bytes_max));
        all += bytes;
    }
    EXPECT_EQ(all, values.size() * sizeof(float));
}

}    // namespace
}    // namespace slipway
