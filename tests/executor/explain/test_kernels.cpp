#include "executor/explain/kernels.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

Tick at(std::int64_t microseconds) {
    return Tick(std::chrono::microseconds(microseconds));
}

/// A product for each core, then a replicated update.
Program two_steps() {
    const Shape shape{DType::f32, {100}};
    Program program;
    program.buffers = {{shape}, {shape}, {shape}};
    program.steps = {{"dot_general x", {0, 1}, {2}, {}, 0, {}},
                     {"add f32[100]", {0}, {1}, {}, 100, {}}};
    program.stages = {{true, 0, 1, {}}, {false, 1, 1, {}}};
    return program;
}

TEST(Kernels, are_added_up_over_cores_and_meant_over_runs) {
    const Program program = two_steps();
    RunTimes times;
    times.workers.resize(2);
    times.workers[0].steps = {
        {0, 0, at(0), at(10)}, {0, 1, at(10), at(20)}, {1, -1, at(30), at(33)}};
    times.workers[1].steps = {{0, 2, at(0), at(12)}, {1, -1, at(30), at(34)}};
    KernelTimes kernels;
    EXPECT_TRUE(kernels.slowest(program).empty());
    kernels.add(program, times);
    kernels.add(program, times);
    EXPECT_EQ(kernels.runs(), 2);
    const std::vector<KernelTime> slowest = kernels.slowest(program);
    ASSERT_EQ(slowest.size(), 2U);
    EXPECT_EQ(slowest[0].name, "dot_general x");
    EXPECT_TRUE(slowest[0].arithmetic);
    EXPECT_TRUE(slowest[0].per_core);
    EXPECT_EQ(slowest[0].calls, 3);
    EXPECT_NEAR(slowest[0].seconds, 32e-6, 1e-12);
    EXPECT_EQ(slowest[0].bytes, 3 * 1200);
    EXPECT_EQ(slowest[1].calls, 2);    // two slices
    EXPECT_NEAR(slowest[1].seconds, 7e-6, 1e-12);
    EXPECT_EQ(slowest[1].bytes, 800);
    EXPECT_FALSE(slowest[1].arithmetic);
}

TEST(Kernels, products_and_convolutions_are_arithmetic) {
    EXPECT_TRUE(is_arithmetic("convolution brgconv f32[8,32,28,28]"));
    EXPECT_TRUE(is_arithmetic("dot_general brgemm f32[8,10]"));
    EXPECT_FALSE(is_arithmetic("copy f32[8]"));
    EXPECT_FALSE(is_arithmetic("fused add dot f32[8]"));
}

}    // namespace
}    // namespace slipway
