#include "executor/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "api/base/error.h"
#include "executor/autodiff/gradients.h"
#include "executor/engine/program_store.h"
#include "executor/graph/ops.h"
#include "executor/reference/evaluate.h"

namespace slipway {
namespace {

using testing::HasSubstr;

Array random_array(Dims dims, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Array array({DType::f32, std::move(dims)});
    for (float& value : array.as<float>())
        value = std::uniform_real_distribution<float>(-1, 1)(random);
    return array;
}

Tensor shared_input(Dims dims, const char* name = "w") {
    return input({DType::f32, std::move(dims)}, Placement::replicated, name);
}

/// A training step of a small network: squared error, momentum; everything donated.
///   inputs   w1, w2, v1, v2, x (per core), y (per core)      outputs  w1, w2, v1, v2, loss
struct TrainStep {
    Graph graph;
    std::vector<Value> inputs;

    explicit TrainStep(int cores) {
        const Tensor w1 = shared_input({200, 300}), w2 = shared_input({300, 10});
        const Tensor v1 = shared_input({200, 300}), v2 = shared_input({300, 10});
        const Tensor x = input({DType::f32, {16, 200}}, Placement::per_core, "x");
        const Tensor y = input({DType::f32, {16, 10}}, Placement::per_core, "y");
        const Tensor wrong = matmul(tanh(matmul(x, w1)), w2) - y;
        const Tensor loss =
            reduce(wrong * wrong, {0, 1}, Reduction::add) * constant(1.0 / double(160 * cores));
        const std::vector<Tensor> weights{w1, w2};
        const std::vector<Tensor> velocities{v1, v2};
        std::vector<Tensor> next_weights, next_velocities;
        const auto gradient = gradients(loss, weights);
        for (std::size_t i = 0; i < 2; ++i) {
            next_velocities.push_back(velocities[i] * constant(0.9) + all_reduce(gradient[i]));
            next_weights.push_back(weights[i] - next_velocities[i] * constant(0.05));
        }
        graph.inputs = {w1, w2, v1, v2, x, y};
        graph.outputs = {next_weights[0], next_weights[1], next_velocities[0], next_velocities[1],
                         all_reduce(loss)};
        graph.donations = {{0, 0}, {1, 1}, {2, 2}, {3, 3}};
        inputs.resize(6);
        for (std::size_t i = 0; i < 4; ++i) {
            inputs[i].arrays = {random_array(graph.inputs[i].dims(), i)};
            for (float& value : inputs[i].arrays[0].as<float>())
                value *= i < 2 ? 0.1F : 0.0F;
        }
        for (std::size_t i = 4; i < 6; ++i)
            for (int core = 0; core < cores; ++core)
                inputs[i].arrays.push_back(
                    random_array(graph.inputs[i].dims(), 100 * i + std::uint64_t(core)));
    }

    /// Runs `steps` steps, feeding outputs back; returns the losses.
    std::vector<float> train(Engine& engine, int steps) {
        std::vector<float> losses;
        for (int step = 0; step < steps; ++step) {
            const auto outputs = engine.run(*engine.compile(graph), inputs);
            std::copy_n(outputs.begin(), 4, inputs.begin());
            losses.push_back(outputs[4].arrays[0].as<float>()[0]);
        }
        return losses;
    }
};

std::vector<float> numbers_of(const Value& value) {
    std::vector<float> numbers;
    for (const Array& array : value.arrays) {
        const auto span = array.as<float>();
        numbers.insert(numbers.end(), span.begin(), span.end());
    }
    return numbers;
}

TEST(Engine, trains_with_the_same_bits_on_any_number_of_workers) {
    TrainStep reference(8);
    Engine alone({.cores = 8, .workers = 1});
    const auto losses = reference.train(alone, 6);
    EXPECT_LT(losses.back(), losses.front());
    for (const int workers : {2, 3, 4, 8}) {
        TrainStep step(8);
        Engine engine({.cores = 8, .workers = workers});
        EXPECT_EQ(engine.workers(), workers);
        EXPECT_EQ(step.train(engine, 6), losses);
        for (std::size_t i = 0; i < 4; ++i)
            EXPECT_EQ(numbers_of(step.inputs[i]), numbers_of(reference.inputs[i]));
    }
}

// Goal: what is compared while the network trains changes no bit.
// Method: more workers than most machines have CPUs, which wait long for each other.
TEST(Engine, trains_with_the_same_bits_while_it_chooses_its_workers) {
    constexpr int steps_max = 1500;
    TrainStep reference(8), step(8);
    Engine alone({.cores = 8, .workers = 1});
    Engine engine({.cores = 8, .workers = 8, .chooses_workers = true});
    for (int done = 0; done < steps_max && !engine.worker_choice().is_settled(); ++done)
        ASSERT_EQ(step.train(engine, 1), reference.train(alone, 1)) << "step " << done;
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(numbers_of(step.inputs[i]), numbers_of(reference.inputs[i]));
    EXPECT_EQ(engine.workers(), 8);
    EXPECT_EQ(engine.counters().compiles, 1);
    const int chosen = engine.worker_choice().chosen();
    EXPECT_EQ(engine.times().workers.size(), std::size_t(chosen));
    EXPECT_EQ(engine.worker_cpus().size(), std::size_t(chosen));
    EXPECT_EQ(chosen == 8, engine.worker_choice().why().empty()) << engine.worker_choice().why();
}

TEST(Engine, runs_as_many_workers_as_it_is_told_unless_it_may_choose) {
    TrainStep step(8);
    Engine engine({.cores = 8, .workers = 8});
    step.train(engine, 60);
    EXPECT_EQ(engine.times().workers.size(), 8u);
    EXPECT_EQ(engine.worker_choice().why(), "");
}

// Sums of up to 300 products of numbers below 1 in f32, against sums in f64.
TEST(Engine, gives_what_the_reference_gives) {
    TrainStep step(4);
    std::vector<ReferenceValue> inputs;
    for (const Value& value : step.inputs) {
        inputs.emplace_back();
        for (const Array& array : value.arrays)
            inputs.back().push_back(array.clone());
    }
    const auto expected = evaluate(step.graph, inputs, 4);
    Engine engine({.cores = 4, .workers = 2});
    const auto actual = engine.run(*engine.compile(step.graph), step.inputs);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto numbers = numbers_of(actual[i]);
        for (std::size_t k = 0; k < numbers.size(); ++k)
            ASSERT_NEAR(numbers[k], expected[i][0].as<float>()[k], 1e-5);
    }
}

TEST(Engine, writes_donated_outputs_into_their_inputs) {
    TrainStep step(2);
    Engine engine({.cores = 2});
    const auto outputs = engine.run(*engine.compile(step.graph), step.inputs);
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(outputs[i].arrays[0].bytes(), step.inputs[i].arrays[0].bytes());
}

TEST(Engine, compiles_equal_graphs_once) {
    Engine engine({.cores = 2});
    const auto first = engine.compile(TrainStep(2).graph);
    EXPECT_EQ(engine.compile(TrainStep(2).graph), first);
    Graph other = TrainStep(2).graph;
    other.donations.pop_back();
    EXPECT_NE(engine.compile(other), first);
    EXPECT_EQ(engine.counters().compiles, 2);
    EXPECT_EQ(engine.counters().cached_compiles, 1);
    EXPECT_EQ(engine.counters().executions, 0);
    EXPECT_GT(engine.counters().compile_s, 0);
}

// Goal: an engine takes the programs of those before it, with the same bits and counts of its own.
TEST(Engine, takes_programs_of_earlier_engines) {
    ProgramStore programs;
    const auto run = [&programs](int workers, std::int64_t bytes_max = 0) {
        TrainStep step(2);
        Engine engine(
            {.cores = 2, .workers = workers, .memory_bytes_max = bytes_max, .programs = &programs});
        const auto outputs = engine.run(*engine.compile(step.graph), step.inputs);
        EXPECT_FALSE(engine.last_compile().repeated);
        engine.compile(step.graph);
        EXPECT_TRUE(engine.last_compile().repeated);
        return std::pair{engine.counters(), outputs.at(0).arrays.at(0).clone()};
    };
    const auto [first, expected] = run(1);
    EXPECT_EQ(first.compiles, 1);
    const auto [second, found] = run(1);
    EXPECT_EQ(second.compiles, 0);
    EXPECT_EQ(second.cached_compiles, 2);
    EXPECT_EQ(second.executions, 1);
    EXPECT_EQ(
        std::memcmp(found.bytes(), expected.bytes(), std::size_t(expected.shape().byte_count())),
        0);
    EXPECT_EQ(run(2).first.compiles, 1) << "another number of threads is another program";
    EXPECT_THROW(run(1, 1000), Error) << "each engine has its own limit of memory";
}

TEST(Engine, names_a_program_by_its_graph_and_its_precision) {
    const Graph graph = TrainStep(2).graph;
    EXPECT_EQ(program_hash(graph, PrecisionPolicy::f32), hash_of(graph));
    EXPECT_NE(program_hash(graph, PrecisionPolicy::bf16), hash_of(graph));
    EXPECT_NE(program_hash(graph, PrecisionPolicy::bf16_true), hash_of(graph));
    EXPECT_NE(program_hash(graph, PrecisionPolicy::bf16_true),
              program_hash(graph, PrecisionPolicy::bf16));
    Engine engine({.cores = 2, .precision = PrecisionPolicy::bf16});
    engine.compile(graph);
    EXPECT_EQ(engine.last_compile().hash, program_hash(graph, PrecisionPolicy::bf16));
}

TEST(Engine, takes_no_notice_of_input_names) {
    Engine engine({});
    const auto named = [](const char* name) {
        const Tensor w = shared_input({3}, name);
        return Graph{{w}, {w + w}, {}};
    };
    EXPECT_EQ(engine.compile(named("a")), engine.compile(named("b name=c")));
}

TEST(Engine, forgets_the_programs_it_used_least_recently) {
    Engine engine({});
    const auto graph = [](int n) {
        const Tensor w = shared_input({n});
        return Graph{{w}, {w + w}, {}};
    };
    for (int n = 1; n <= 64; ++n)
        engine.compile(graph(n));
    engine.compile(graph(1));
    engine.compile(graph(65));    // takes the place of 2
    engine.compile(graph(1));
    EXPECT_EQ(engine.counters().compiles, 65);
    engine.compile(graph(2));
    EXPECT_EQ(engine.counters().compiles, 66);
}

TEST(Engine, counts_runs) {
    TrainStep step(2);
    Engine engine({.cores = 2});
    step.train(engine, 3);
    EXPECT_EQ(engine.counters().executions, 3);
    EXPECT_EQ(engine.counters().compiles, 1);
    EXPECT_GT(engine.counters().execute_s, 0);
}

TEST(Engine, knows_the_memory_of_a_step_before_it_runs) {
    Engine engine({.cores = 8, .workers = 2});
    const MemoryReport report = engine.memory(*engine.compile(TrainStep(8).graph));
    const std::int64_t weights = 4 * (200 * 300 + 300 * 10);
    EXPECT_EQ(report.donated_bytes, 2 * weights);
    EXPECT_EQ(report.input_bytes, 2 * weights + 8 * 4 * (16 * 200 + 16 * 10));
    EXPECT_EQ(report.output_bytes, 4);
    EXPECT_EQ(report.peak_bytes, report.input_bytes + report.output_bytes + report.temporary_bytes);
    // Gradients are made of the rows of all cores, which are copied one core's after the other's;
    // no core has a gradient of its own.
    EXPECT_GE(report.temporary_bytes, 2 * weights);
    EXPECT_LT(report.temporary_bytes, 2 * weights + 8 * 4 * 16 * (200 + 3 * 300));
}

/// Layers of 128 rows a core, of which the way back needs what the way there left: replicas that
/// run together hold it each of its own.
Graph layers() {
    const std::int64_t rows = 128, features = 256, columns = 2048, count = 6;
    Graph graph;
    const auto weights = [&](std::int64_t from, std::int64_t to) {
        return graph.inputs.emplace_back(shared_input({from, to}));
    };
    graph.inputs.push_back(input({DType::f32, {rows, features}}, Placement::per_core, "x"));
    std::vector<Tensor> inside;
    Tensor x = tanh(graph.inputs[0]);
    for (std::int64_t i = 0; i < count; ++i) {
        inside.push_back(tanh(matmul(x, weights(features, columns))));
        x = tanh(matmul(inside.back(), weights(columns, features)));
    }
    for (std::int64_t i = count; i-- > 0;)
        x = matmul(matmul(x, weights(features, columns)) * inside[std::size_t(i)],
                   weights(columns, features));
    graph.outputs = {x};
    return graph;
}

// Goal: a limit that one replica after the other keeps is no error, also where a program of more
// memory is there already; the bits are the same.
TEST(Engine, saves_memory_where_the_limit_asks_for_it) {
    const Graph graph = layers();
    std::vector<Value> inputs(graph.inputs.size());
    for (std::size_t i = 1; i < inputs.size(); ++i)
        inputs[i].arrays = {random_array(graph.inputs[i].dims(), i)};
    for (std::uint64_t core = 0; core < 8; ++core)
        inputs[0].arrays.push_back(random_array(graph.inputs[0].dims(), 100 + core));
    ProgramStore programs;
    const EngineOptions options{.cores = 8, .workers = 2, .programs = &programs};
    Engine free(options);
    const auto together = free.compile(graph);
    const std::int64_t peak = free.memory(*together).peak_bytes;
    EngineOptions limited = options;
    limited.memory_bytes_max = peak - 1;
    EXPECT_LT(plan_memory(graph, limited).peak_bytes, peak);
    Engine small(limited);
    const auto apart = small.compile(graph);
    EXPECT_LT(small.memory(*apart).peak_bytes, peak);
    const auto expected = free.run(*together, inputs), found = small.run(*apart, inputs);
    for (std::size_t core = 0; core < 8; ++core) {
        const Array& a = found.at(0).arrays.at(core);
        const Array& b = expected.at(0).arrays.at(core);
        EXPECT_EQ(std::memcmp(a.bytes(), b.bytes(), std::size_t(a.byte_count())), 0);
    }
    limited.memory_bytes_max = peak / 4;
    Engine too_small(limited);
    EXPECT_THROW(too_small.compile(graph), Error);
}

TEST(Engine, refuses_a_step_over_the_limit_before_it_runs) {
    Engine free({.cores = 8, .workers = 2});
    const std::int64_t peak = free.memory(*free.compile(TrainStep(8).graph)).peak_bytes;
    Engine enough({.cores = 8, .workers = 2, .memory_bytes_max = peak});
    EXPECT_NO_THROW(enough.compile(TrainStep(8).graph));
    Engine small({.cores = 8, .workers = 2, .memory_bytes_max = peak - 1});
    try {
        small.compile(TrainStep(8).graph);
        FAIL() << "compiled over the limit";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::exhausted);
        EXPECT_THAT(error.what(), HasSubstr(std::to_string(peak)));
        EXPECT_THAT(error.what(), HasSubstr(std::to_string(peak - 1)));
    }
}

TEST(Engine, refuses_inputs_that_do_not_fit_and_goes_on) {
    TrainStep step(2);
    Engine engine({.cores = 2});
    const auto executable = engine.compile(step.graph);
    const auto refused = [&](const std::vector<Value>& inputs) {
        try {
            engine.run(*executable, inputs);
        } catch (const Error& error) {
            return error.code() == ErrorCode::invalid_argument;
        }
        return false;
    };
    std::vector<Value> inputs = step.inputs;
    inputs.pop_back();
    EXPECT_TRUE(refused(inputs));
    inputs = step.inputs;
    inputs[5].arrays.pop_back();
    EXPECT_TRUE(refused(inputs));
    inputs = step.inputs;
    inputs[0].arrays[0] = random_array({300, 200}, 1);
    EXPECT_TRUE(refused(inputs));
    inputs = step.inputs;
    inputs[0].arrays[0] = Array();
    EXPECT_TRUE(refused(inputs));
    inputs = step.inputs;
    inputs[2] = inputs[0];    // two donated inputs, one memory
    EXPECT_TRUE(refused(inputs));
    EXPECT_NO_THROW(engine.run(*executable, step.inputs));
}

TEST(Engine, refuses_teams_that_make_no_sense) {
    EXPECT_THROW(Engine({.cores = 0}), Error);
    EXPECT_THROW(Engine({.cores = 8, .workers = -1}), Error);
}

TEST(Engine, shows_its_program) {
    Engine engine({.cores = 2});
    const std::string text = engine.print(*engine.compile(TrainStep(2).graph));
    EXPECT_THAT(text, HasSubstr("stage per_core"));
    EXPECT_THAT(text, HasSubstr("all_reduce add"));
    EXPECT_THAT(text, HasSubstr("dot_general"));
}

}    // namespace
}    // namespace slipway
