// Goal: the losses of the tasks, and so their gradients, are torch's, step by step.
// Method: task_curves.json holds 20 losses of torch for an MLP with each loss;
// reference/make_task_curves.py made it and says how. Weights and batches come from the same
// counter-based generator on both sides. Tolerance 1e-4 relative: both sides sum float32 in
// different orders, and 20 steps of training carry the difference on.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "executor/engine/engine.h"
#include "executor/nn/models/mlp.h"
#include "executor/train/evaluate.h"
#include "executor/train/step.h"
#include "tests/executor/train/drawn_numbers.h"

namespace slipway {
namespace {

constexpr std::int64_t batch_size = 32, outputs = 10, side = 16, pixels = side * side;

Array labels_of(TaskType type, std::int64_t step) {
    if (type == TaskType::classification) {
        Array labels({DType::i32, {batch_size}});
        for (std::int64_t i = 0; i < batch_size; ++i)
            labels.as<std::int32_t>()[std::size_t(i)] = std::int32_t((i + step) % outputs);
        return labels;
    }
    const auto drawn = uniform(site_shuffle, std::uint64_t(1000 + step), batch_size * outputs);
    Array labels({DType::f32, {batch_size, outputs}});
    std::ranges::transform(drawn, labels.as<float>().begin(), [&](float u) {
        if (type == TaskType::regression) return 4 * u - 2;
        return u < 0.3F ? 1.0F : 0.0F;
    });
    return labels;
}

LoadedBatch batch_of(TaskType type, std::int64_t step) {
    const auto prototypes = uniform(site_shuffle, 0, outputs * pixels);
    const auto noise = uniform(site_augment, std::uint64_t(step), batch_size * pixels);
    Batch one{.features = Array({DType::f32, {batch_size, pixels}}),
              .labels = labels_of(type, step),
              .weights = filled({batch_size}, 1)};
    const auto features = one.features.as<float>();
    for (std::size_t i = 0; i < features.size(); ++i) {
        const std::size_t sample = i / pixels;
        const std::size_t kind = (sample + std::size_t(step)) % outputs;
        features[i] = 2.0F * (prototypes[kind * pixels + i % pixels] + noise[i]) - 2.0F;
    }
    LoadedBatch batch;
    batch.cores.push_back(std::move(one));
    return batch;
}

SampleShape shape_of(TaskType type) {
    return type == TaskType::classification ? class_sample_shape({pixels})
                                            : number_sample_shape({pixels}, outputs);
}

std::vector<double> losses_of(const JobSpec& spec, std::size_t steps) {
    Model model;
    Init init(curve_seed);
    model.forward = without_pass(Mlp::create(model.parameters, init, pixels, {64, 32}, outputs));
    const TaskType type = spec.task.type;
    const Optimizer& optimizer = find_optimizer("sgd_momentum");
    Engine engine({.cores = 1, .workers = 1});
    const TracedStep step =
        trace_train_step(model, make_task(spec), optimizer, {batch_size, shape_of(type)});
    const auto program = engine.compile(step.graph);
    std::vector<Array> values;
    for (const Parameter& parameter : model.parameters.all())
        values.push_back(parameter.value.clone());
    for (const Parameter& parameter : model.parameters.all())
        values.emplace_back(parameter.value.shape());
    std::vector<double> losses;
    for (std::size_t k = 0; k < steps; ++k) {
        StepValues inputs(step.bindings.inputs);
        for (const StepInput name : {StepInput::parameters, StepInput::optimizer_state})
            inputs.set(name, step.bindings.inputs.of(std::span<const Array>(values), name));
        Hyper hyper{.lr = 0.05, .momentum = 0.9, .weight_decay = 1e-4};
        hyper.step = std::int64_t(k) + 1;
        hyper.label_count = double(batch_size * (type == TaskType::classification ? 1 : outputs));
        inputs.set(StepInput::hyper, Value{{hyper_values(hyper)}});
        set_batch(inputs, batch_of(type, std::int64_t(k)));
        const auto found = engine.run(*program, std::move(inputs).take());
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = found[i].arrays[0];
        losses.push_back(double(scalar_of(found[values.size()])) /
                         double(scalar_of(found[values.size() + 1])));
    }
    return losses;
}

struct Curve {
    const char* name;
    TaskType type;
    double smoothing;
};

class TaskCurve : public testing::TestWithParam<Curve> {};

TEST_P(TaskCurve, equals_torchs_within_one_in_ten_thousand) {
    std::ifstream file(SLIPWAY_SOURCE_DIR "/tests/executor/train/reference/task_curves.json");
    const auto expected =
        nlohmann::json::parse(file).at(GetParam().name).get<std::vector<double>>();
    JobSpec spec;
    spec.task.type = GetParam().type;
    spec.task.metrics = {TaskMetric::loss};
    spec.task.label_smoothing = GetParam().smoothing;
    const auto losses = losses_of(spec, expected.size());
    ASSERT_EQ(expected.size(), 20U);
    for (std::size_t k = 0; k < losses.size(); ++k)
        EXPECT_NEAR(losses[k] / expected[k], 1.0, 1e-4) << "step " << k + 1;
}

INSTANTIATE_TEST_SUITE_P(Torch, TaskCurve,
                         testing::Values(Curve{"smoothed", TaskType::classification, 0.1},
                                         Curve{"multilabel", TaskType::multilabel, 0},
                                         Curve{"regression", TaskType::regression, 0}),
                         [](const auto& one) { return std::string(one.param.name); });

}    // namespace
}    // namespace slipway
