// Goal: a step over several batches gives what one step over all of their samples gives.
// Method: the naive evaluator runs the graph of the large batch; the engine runs an accumulation
// step for each batch but the last, and the training step for that.
#include "executor/train/step.h"

#include <gtest/gtest.h>

#include <span>
#include <utility>

#include "executor/engine/engine.h"
#include "executor/nn/models/mlp.h"
#include "executor/reference/evaluate.h"
#include "executor/tensor/random.h"
#include "executor/train/evaluate.h"
#include "tests/executor/train/class_batch.h"

namespace slipway {
namespace {

constexpr std::int64_t features = 6, classes = 3, batch_size = 3, batches = 4;
constexpr int cores = 2;

Model small_model() {
    Model model;
    Init init(5);
    model.forward = without_pass(Mlp::create(model.parameters, init, features, {5}, classes));
    return model;
}

/// What one core reads in all batches of the step; the last two samples are padding.
Batch samples_of_core(int core) {
    const std::int64_t count = batch_size * batches;
    Batch batch{.features = Array({DType::f32, {count, features}}),
                .labels = Array({DType::i32, {count}}),
                .weights = Array({DType::f32, {count}})};
    RandomStream random(3, site_augment, std::uint64_t(core));
    for (float& value : batch.features.as<float>())
        value = random.next_normal();
    for (std::int64_t j = 0; j < count; ++j) {
        batch.labels.as<std::int32_t>()[std::size_t(j)] = std::int32_t((j + core) % classes);
        batch.weights.as<float>()[std::size_t(j)] = j < count - 2 ? 1.0F : 0.0F;
    }
    return batch;
}

template <class T>
Array rows(const Array& all, std::int64_t first) {
    Shape shape = all.shape();
    const std::int64_t width = shape.element_count() / shape.dims[0];
    shape.dims[0] = batch_size;
    Array part(shape);
    std::ranges::copy(all.as<T>().subspan(std::size_t(first * width), part.as<T>().size()),
                      part.as<T>().begin());
    return part;
}

LoadedBatch large_batch() {
    LoadedBatch batch;
    for (int core = 0; core < cores; ++core)
        batch.cores.push_back(samples_of_core(core));
    return batch;
}

LoadedBatch small_batch(std::int64_t number) {
    LoadedBatch batch;
    for (const Batch& core : large_batch().cores)
        batch.cores.push_back({.features = rows<float>(core.features, number * batch_size),
                               .labels = rows<std::int32_t>(core.labels, number * batch_size),
                               .weights = rows<float>(core.weights, number * batch_size)});
    return batch;
}

Value numbers() {
    return {{hyper_values({.lr = 0.1,
                           .momentum = 0.9,
                           .weight_decay = 0.01,
                           .label_count = double(cores * (batch_size * batches - 2))})}};
}

std::vector<Array> initial_values(const Model& model) {
    std::vector<Array> values;
    for (const Parameter& parameter : model.parameters.all())
        values.push_back(parameter.value.clone());
    return values;
}

/// `count` arrays of zeros for each parameter.
std::vector<Array> zeros(const Model& model, std::size_t count = 1) {
    std::vector<Array> values;
    for (const Parameter& parameter : model.parameters.all())
        for (std::size_t i = 0; i < count; ++i)
            values.emplace_back(parameter.value.shape());
    return values;
}

/// What a step reads; a program without states or sums gets none.
struct Inputs {
    std::vector<Array> parameters, states, sums;

    std::vector<Value> of(const TracedStep& step, const LoadedBatch& batch) const {
        StepValues values(step.bindings.inputs);
        values.set(StepInput::parameters, parameters);
        values.set(StepInput::optimizer_state, states);
        values.set(StepInput::gradient_sums, sums);
        values.set(StepInput::hyper, numbers());
        set_batch(values, batch);
        return std::move(values).take();
    }
};

class AccumulatedStep : public testing::TestWithParam<const char*> {};

TEST_P(AccumulatedStep, is_the_step_of_all_samples) {
    const Model model = small_model();
    const Optimizer& optimizer = find_optimizer(GetParam());
    const std::size_t states = optimizer.state.size();

    const TracedStep whole = trace_train_step(model, class_task(), optimizer,
                                              class_batch(batch_size * batches, {features}));
    const Inputs undivided{initial_values(model), zeros(model, states), {}};
    std::vector<ReferenceValue> values;
    for (const Value& value : undivided.of(whole, large_batch()))
        values.push_back(value.arrays);
    const std::vector<ReferenceValue> expected = evaluate(whole.graph, values, cores);

    Engine engine({.cores = cores, .workers = 2});
    Inputs inputs{initial_values(model), {}, zeros(model)};
    MetricSums total;
    const auto add = [&](const TracedStep& step, std::span<const Value> outputs) {
        total.add(step.bindings.sum_names, step.bindings.outputs.of(outputs, StepOutput::sums));
    };
    const BatchShape shape = class_batch(batch_size, {features});
    const TracedStep first = trace_accumulation_step(model, class_task(), optimizer, shape);
    const auto accumulation = engine.compile(first.graph);
    for (std::int64_t number = 0; number + 1 < batches; ++number) {
        const std::vector<Value> outputs =
            engine.run(*accumulation, inputs.of(first, small_batch(number)));
        const auto sums = first.bindings.outputs.of(std::span(outputs), StepOutput::gradient_sums);
        for (std::size_t i = 0; i < sums.size(); ++i)
            inputs.sums[i] = sums[i].arrays[0];
        add(first, outputs);
    }
    const TracedStep last =
        trace_train_step(model, class_task(), optimizer, shape, Accumulation::finished);
    inputs.states = zeros(model, states);
    const std::vector<Value> outputs =
        engine.run(*engine.compile(last.graph), inputs.of(last, small_batch(batches - 1)));
    add(last, outputs);

    // Sums of some ten numbers below 1 in f32, against the evaluator's in f64.
    const std::size_t state_count = (1 + states) * model.parameters.all().size();
    for (std::size_t i = 0; i < state_count; ++i) {
        const auto found = outputs[i].arrays[0].as<float>();
        for (std::size_t k = 0; k < found.size(); ++k)
            EXPECT_NEAR(found[k], expected[i][0].as<float>()[k], 1e-6) << i << ", " << k;
    }
    const auto expected_sum = [&](std::size_t i) {
        return double(expected[state_count + i][0].as<float>()[0]);
    };
    EXPECT_NEAR(total.scalar("loss"), expected_sum(0), 2e-5);    // some 20 losses near 1
    EXPECT_EQ(total.scalar("labels"), expected_sum(1));
    EXPECT_EQ(total.scalar("correct"), expected_sum(2));
}

INSTANTIATE_TEST_SUITE_P(Optimizers, AccumulatedStep,
                         testing::Values("sgd", "sgd_momentum", "sgd_nesterov"));

TEST(TrainStep, of_one_batch_has_no_sums) {
    const Model model = small_model();
    const Optimizer& optimizer = find_optimizer("adam");
    const Task task = class_task();
    const BatchShape shape = class_batch(batch_size, {features});
    const std::size_t count = model.parameters.all().size();
    EXPECT_EQ(trace_train_step(model, task, optimizer, shape).graph.inputs.size(), 3 * count + 4);
    EXPECT_EQ(
        trace_train_step(model, task, optimizer, shape, Accumulation::finished).graph.inputs.size(),
        4 * count + 4);
    EXPECT_EQ(trace_accumulation_step(model, task, optimizer, shape).graph.inputs.size(),
              2 * count + 4);
}

TEST(TrainStep, names_each_of_its_inputs_and_outputs) {
    const Model model = small_model();
    UpdatePlan plan = find_optimizer("adam");
    plan.rules.resize(model.parameters.all().size());
    plan.rules[0].trained = false;
    plan.clips = true;
    const TracedStep step =
        trace_train_step(model, class_task(), plan, class_batch(batch_size, {features}));
    const auto& [inputs, outputs, sum_names, row_names] = step.bindings;
    EXPECT_EQ(inputs.size(), step.graph.inputs.size());
    EXPECT_EQ(outputs.size(), step.graph.outputs.size());
    EXPECT_EQ(inputs.count(StepInput::parameters), 3U);
    EXPECT_EQ(inputs.count(StepInput::optimizer_state), 6U);
    EXPECT_EQ(inputs.count(StepInput::frozen_parameters), 1U);
    EXPECT_EQ(outputs.count(StepOutput::gradient_norm), 1U);
    EXPECT_EQ(outputs.count(StepOutput::sums), sum_names.size());
    EXPECT_TRUE(row_names.empty());
    const std::span tensors(step.graph.inputs);
    EXPECT_EQ(inputs.of(tensors, StepInput::frozen_parameters)[0].get(),
              model.parameters.inputs()[0].get());
    const auto name_of_input = [&](StepInput input) {
        return std::get<InputAttributes>(inputs.of(tensors, input)[0].node().attributes).name;
    };
    EXPECT_EQ(name_of_input(StepInput::features), "features");
    EXPECT_EQ(name_of_input(StepInput::weights), "weights");
    EXPECT_EQ(step.graph.donations.size(), 9U);
}

}    // namespace
}    // namespace slipway
