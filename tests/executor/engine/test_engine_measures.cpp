#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/engine/engine.h"
#include "executor/graph/ops.h"
#include "executor/runtime/collectives.h"
#include "executor/runtime/run_times.h"

namespace slipway {
namespace {

/// w += the sum over cores of x's columns; w is donated.
Graph accumulate(std::int64_t batch) {
    const Tensor w = input({DType::f32, {4}}, Placement::replicated, "w");
    const Tensor x = input({DType::f32, {batch, 4}}, Placement::per_core, "features");
    Graph graph;
    graph.inputs = {w, x};
    graph.outputs = {w + all_reduce(reduce(x, {0}, Reduction::add))};
    graph.donations = {{0, 0}};
    return graph;
}

std::vector<Value> values(std::int64_t batch, int cores) {
    std::vector<Value> inputs{{{Array({DType::f32, {4}})}}, {}};
    for (int core = 0; core < cores; ++core)
        inputs[1].arrays.emplace_back(Shape{DType::f32, {batch, 4}});
    return inputs;
}

TEST(EngineMeasures, every_run_but_the_first_of_a_program_is_a_cached_compile) {
    Engine engine({.cores = 8, .workers = 2});
    const auto executable = engine.compile(accumulate(16));
    for (int step = 0; step < 10; ++step)
        engine.run(*executable, values(16, 8));
    const Metrics& metrics = engine.metrics();
    EXPECT_EQ(metrics.at(Counter::mark_step), 10);
    EXPECT_EQ(metrics.at(Counter::uncached_compile), 1);
    EXPECT_EQ(metrics.at(Counter::create_compile_handles), 1);
    EXPECT_EQ(metrics.at(Counter::cached_compile), 9);
    EXPECT_EQ(metrics.at(Metric::compile_time).count(), 1);
    EXPECT_EQ(metrics.at(Metric::execute_time).count(), 10);
    EXPECT_EQ(metrics.at(Metric::device_lock_wait).count(), 10);
    EXPECT_EQ(metrics.at(Metric::input_output_alias_count).total(), 1);
    EXPECT_EQ(metrics.at(Metric::tensors_graph_size).total(), 5);
    EXPECT_LE(metrics.at(Metric::device_lock_wait).total(),
              metrics.at(Metric::execute_time).total());
}

TEST(EngineMeasures, a_compile_after_warm_up_says_what_differs) {
    Engine engine({.cores = 8, .workers = 2});
    const auto usual = engine.compile(accumulate(16));
    EXPECT_FALSE(engine.last_compile().after_warm_up);
    EXPECT_FALSE(engine.last_compile().cached);
    EXPECT_GT(engine.last_compile().seconds, 0);
    engine.compile(accumulate(12));
    EXPECT_FALSE(engine.last_compile().after_warm_up) << "nothing has run yet";
    engine.run(*usual, values(16, 8));
    engine.run(*usual, values(16, 8));
    engine.compile(accumulate(16));
    EXPECT_TRUE(engine.last_compile().cached);
    EXPECT_FALSE(engine.last_compile().after_warm_up);
    engine.compile(accumulate(7));
    EXPECT_TRUE(engine.last_compile().after_warm_up);
    EXPECT_EQ(engine.last_compile().cause, "features is f32[7,4], was f32[16,4]");
}

TEST(EngineMeasures, a_timeline_is_kept_when_it_is_asked_for) {
    Engine engine({.cores = 8, .workers = 2});
    const auto executable = engine.compile(accumulate(16));
    engine.run(*executable, values(16, 8), true);
    EXPECT_TRUE(engine.times().timeline);
    EXPECT_FALSE(engine.times().workers[0].steps.empty());
    EXPECT_GT(engine.binding_s(), 0);
    engine.run(*executable, values(16, 8));
    EXPECT_FALSE(engine.times().timeline);
    EXPECT_TRUE(engine.times().workers[0].steps.empty());
}

TEST(EngineMeasures, memory_is_planned_without_an_engine) {
    const EngineOptions options{.cores = 8, .workers = 2};
    Engine engine(options);
    const MemoryReport made = engine.memory(*engine.compile(accumulate(16)));
    const MemoryReport planned = plan_memory(accumulate(16), options);
    EXPECT_EQ(planned.peak_bytes, made.peak_bytes);
    EXPECT_EQ(planned.donated_bytes, 16);
    EXPECT_LT(plan_memory(accumulate(8), options).peak_bytes, planned.peak_bytes);
}

/// Other processes whose sums take three times their size.
class Costly final : public Collectives {
public:
    void all_reduce(Combine, DType, std::span<std::byte>) override {}
    void reduce_scatter(Combine, DType, std::span<const std::span<std::byte>>) override {}
    void gather_shards(std::span<const std::span<std::byte>>) override {}
    int rank() const override { return 0; }
    int count() const override { return 2; }
    std::int64_t staging_bytes(std::int64_t value_bytes) const override { return 3 * value_bytes; }
};

TEST(EngineMeasures, the_plan_counts_what_sums_of_several_processes_take) {
    Costly others;
    const Graph graph = accumulate(16);
    const EngineOptions alone{.cores = 8, .workers = 2};
    EngineOptions linked = alone;
    linked.collectives = &others;
    constexpr std::int64_t sum_bytes = 16;    // copied once, and three times for the others
    EXPECT_EQ(plan_memory(graph, linked).temporary_bytes,
              plan_memory(graph, alone).temporary_bytes + 4 * sum_bytes);
}

}    // namespace
}    // namespace slipway
