#include "executor/runtime/collectives.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "api/base/error.h"
#include "executor/runtime/process_sums.h"
#include "executor/runtime/run.h"
#include "executor/tensor/bfloat16.h"
#include "tests/executor/runtime/linked_processes.h"

namespace slipway {
namespace {

using Replicas = std::vector<std::vector<float>>;

/// input 0 per core, f32[n] -> all_reduce, twice in two stages -> outputs 0 and 1.
Program two_sums(std::int64_t n, bool rounds_to_bf16 = false) {
    const Shape shape{DType::f32, {n}};
    const auto copy = [n](const KernelCall& call) {
        std::copy_n(call.reads[0], n * 4, call.writes[0]);
    };
    const std::int64_t aligned = (n * 4 + 63) / 64 * 64;
    Program program;
    program.inputs = {{shape, true, {}}};
    program.outputs = {{shape, false, {}}, {shape, false, {}}};
    program.buffers = {{shape, Region::input, 0, 0},
                       {shape, Region::sum, 0, 0},
                       {shape, Region::output, 0, 0},
                       {shape, Region::sum, 0, aligned},
                       {shape, Region::output, 1, 0}};
    program.steps = {{"copy", {0}, {1}, {}, 0, copy},
                     {"copy", {1}, {2}, {}, 0, copy},
                     {"copy", {0}, {3}, {}, 0, copy},
                     {"copy", {3}, {4}, {}, 0, copy}};
    program.stages = {{true, 0, 1, {{1, Combine::add, false, rounds_to_bf16}}},
                      {false, 1, 1, {}},
                      {true, 2, 1, {{3, Combine::maximum}}},
                      {false, 3, 1, {}}};
    program.arena_bytes[std::size_t(Region::sum)] = 2 * aligned;
    return program;
}

std::vector<std::vector<float>> run(Runtime& runtime, const Program& program,
                                    std::span<std::vector<float>> replicas) {
    std::vector<std::vector<float>> outputs(2, std::vector<float>(replicas[0].size()));
    Bindings bindings{{{}}, {}};
    for (std::vector<float>& replica : replicas)
        bindings.inputs[0].push_back(reinterpret_cast<std::byte*>(replica.data()));
    for (std::vector<float>& output : outputs)
        bindings.outputs.push_back({reinterpret_cast<std::byte*>(output.data())});
    runtime.run(program, make_run_plan(program, runtime.team()), bindings);
    return outputs;
}

/// Numbers of many magnitudes: another order of additions gives other bits.
Replicas random_replicas(int count, std::size_t n) {
    std::mt19937_64 random(11);
    std::uniform_real_distribution<float> uniform(-1, 1);
    Replicas replicas{std::size_t(count), std::vector<float>(n)};
    for (std::vector<float>& replica : replicas)
        for (float& value : replica)
            value = uniform(random) * std::exp2(float(random() % 20));
    return replicas;
}

// Goal: a slice's bits are those of all its replicas in one process, for any number of workers.
class Sums : public testing::TestWithParam<bool> {};

TEST_P(Sums, of_processes_of_eight_replicas_have_the_bits_of_one_process) {
    constexpr std::int64_t n = 5000;
    const Program program = two_sums(n, GetParam());
    for (const int processes : {2, 3, 4}) {
        Replicas replicas = random_replicas(8 * processes, n);
        Runtime whole({8 * processes, 2});
        const auto expected = run(whole, program, replicas);
        for (const int workers : {1, 2}) {
            LinkedProcesses linked(processes);
            std::vector<std::vector<std::vector<float>>> outputs(
                static_cast<std::size_t>(processes));
            std::vector<int> calls(static_cast<std::size_t>(processes));
            {
                std::vector<std::jthread> threads;
                for (int rank = 0; rank < processes; ++rank)
                    threads.emplace_back([&, rank] {
                        LinkedProcesses::Member member(linked, rank);
                        Runtime runtime({8, workers}, {}, &member);
                        outputs[std::size_t(rank)] =
                            run(runtime, program, std::span(replicas).subspan(rank * 8, 8));
                        calls[std::size_t(rank)] = member.calls;
                    });
            }
            for (int rank = 0; rank < processes; ++rank) {
                EXPECT_EQ(outputs[std::size_t(rank)], expected)
                    << processes << " processes, " << workers << " workers, rank " << rank;
                EXPECT_EQ(calls[std::size_t(rank)], 2);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Types, Sums, testing::Bool(), [](const auto& test) {
    return std::string(test.param ? "exchanged_as_bf16" : "exchanged_as_f32");
});

// Goal: what is rounded is the sum of each eight replicas, and the sum of all.
TEST(Collectives, sums_are_rounded_by_blocks_of_eight) {
    constexpr std::int64_t n = 500;
    Replicas replicas = random_replicas(20, n);
    Replicas sums = random_replicas(3, n);
    for (int block = 0; block < 3; ++block) {
        const std::size_t first = std::size_t(block) * 8,
                          count = std::min(20 - first, std::size_t{8});
        Runtime runtime({int(count), 1});
        sums[std::size_t(block)] =
            run(runtime, two_sums(n), std::span(replicas).subspan(first, count))[0];
    }
    Runtime whole({20, 2});
    const auto rounded = run(whole, two_sums(n, true), replicas)[0];
    for (std::size_t i = 0; i < std::size_t(n); ++i) {
        const auto of_block = [&](std::size_t block) { return float(BFloat16(sums[block][i])); };
        EXPECT_EQ(rounded[i], float(BFloat16((of_block(0) + of_block(1)) + of_block(2)))) << i;
    }
    Runtime eight({8, 2});
    EXPECT_EQ(run(eight, two_sums(n, true), std::span(replicas).first(8))[0], sums[0])
        << "one block is not exchanged";
}

// Goal: processes of several blocks each round what one process rounds.
TEST(Collectives, processes_of_sixteen_replicas_round_as_one_process) {
    constexpr std::int64_t n = 500;
    const Program program = two_sums(n, true);
    Replicas replicas = random_replicas(32, n);
    Runtime whole({32, 2});
    const auto expected = run(whole, program, replicas);
    LinkedProcesses linked(2);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 2; ++rank)
        threads.emplace_back([&, rank] {
            LinkedProcesses::Member member(linked, rank);
            Runtime runtime({16, 2}, {}, &member);
            EXPECT_EQ(
                run(runtime, program, std::span(replicas).subspan(std::size_t(rank) * 16, 16)),
                expected)
                << rank;
        });
}

/// Doubles what it is given, as if another process had the same, and keeps how much that was.
class Doubling final : public Collectives {
public:
    std::vector<std::size_t> calls;
    void all_reduce(Combine, DType dtype, std::span<std::byte> values) override {
        calls.push_back(values.size());
        std::vector<std::byte> other(values.begin(), values.end());
        const std::array<std::byte*, 2> roots{values.data(), other.data()};
        combine_roots({0, Combine::add}, dtype, roots, 0,
                      std::int64_t(values.size() / size_in_bytes(dtype)));
    }
    void reduce_scatter(Combine, DType, std::span<const std::span<std::byte>>) override {}
    void gather_shards(std::span<const std::span<std::byte>>) override {}
    int rank() const override { return 0; }
    int count() const override { return 2; }
    std::int64_t staging_bytes(std::int64_t value_bytes) const override { return value_bytes; }
};

// Goal: many small sums cost one call; large ones are sent from where they lie; others of their
// kind alone go with them.
TEST(Collectives, small_sums_go_together) {
    std::vector<std::vector<float>> values(6, std::vector<float>(100, 1));
    values[3].resize(100'000, 1);
    std::vector<std::int32_t> counts(10, 1);
    std::vector<ProcessValues> sums;
    for (std::vector<float>& each : values)
        sums.push_back({Combine::add, DType::f32, std::as_writable_bytes(std::span(each))});
    sums.push_back({Combine::add, DType::i32, std::as_writable_bytes(std::span(counts))});
    Doubling doubling;
    std::vector<std::byte> packed;
    combine_processes(doubling, sums, packed);
    EXPECT_EQ(doubling.calls, (std::vector<std::size_t>{1200, 400'000, 800, 40}));
    for (const std::vector<float>& each : values)
        EXPECT_EQ(each, std::vector<float>(each.size(), 2));
    EXPECT_EQ(counts, std::vector<std::int32_t>(10, 2));
}

// Goal: what is exchanged as bf16 takes half the bytes, small and large, and comes back as f32.
TEST(Collectives, sums_of_bf16_take_half_the_bytes) {
    constexpr std::size_t large = 10'000'001;    // two calls
    std::vector<std::vector<float>> values{std::vector<float>(100, 257), std::vector<float>(300, 3),
                                           std::vector<float>(large, 1)};
    for (std::size_t i = 0; i < large; ++i)
        values[2][i] = float(i % 200);
    std::vector<float> exact(10, 257);
    std::vector<ProcessValues> sums;
    for (std::vector<float>& each : values)
        sums.push_back({Combine::add, DType::f32, std::as_writable_bytes(std::span(each)),
                        ProcessRounding::all});
    sums.push_back({Combine::add, DType::f32, std::as_writable_bytes(std::span(exact)),
                    ProcessRounding::result});
    Doubling doubling;
    std::vector<std::byte> packed;
    combine_processes(doubling, sums, packed);
    EXPECT_EQ(doubling.calls, (std::vector<std::size_t>{800, 16'777'216, 3'222'786, 40}));
    EXPECT_EQ(values[0], std::vector<float>(100, 512));
    EXPECT_EQ(values[1], std::vector<float>(300, 6));
    for (std::size_t i = 0; i < large; ++i)
        ASSERT_EQ(values[2][i], float(2 * (i % 200))) << i;
    EXPECT_EQ(exact, std::vector<float>(10, 512)) << "514, rounded once";
}

class Unreachable final : public Collectives {
    void all_reduce(Combine, DType, std::span<std::byte>) override {
        throw Error{ErrorCode::unavailable, "rank 1 has ended"};
    }
    void reduce_scatter(Combine, DType, std::span<const std::span<std::byte>>) override {}
    void gather_shards(std::span<const std::span<std::byte>>) override {}
    int rank() const override { return 0; }
    int count() const override { return 2; }
    std::int64_t staging_bytes(std::int64_t) const override { return 0; }
};

// Goal: the loss of another process ends the run with its message, for every worker.
TEST(Collectives, an_error_of_the_transport_ends_the_run) {
    const Program program = two_sums(64);
    Replicas replicas = random_replicas(8, 64);
    for (const int workers : {1, 2}) {
        Unreachable unreachable;
        Runtime runtime({8, workers}, {}, &unreachable);
        try {
            run(runtime, program, replicas);
            ADD_FAILURE() << "the run went on";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::unavailable);
            EXPECT_STREQ(error.what(), "rank 1 has ended");
        }
    }
}

}    // namespace
}    // namespace slipway
