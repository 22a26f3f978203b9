// Goal: the MLP and LeNet learn as torch's do, step by step.
// Method: loss_curves.json holds 50 losses of torch for each (model, optimizer);
// reference/make_loss_curves.py made it and says how. Weights and batches come from the same
// counter-based generator on both sides. Tolerance 1e-4 relative: both sides sum float32 in
// different orders (2^-24 each), and 50 steps of training carry the difference on.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "executor/engine/engine.h"
#include "executor/nn/models/lenet.h"
#include "executor/nn/models/mlp.h"
#include "executor/train/evaluate.h"
#include "executor/train/step.h"
#include "tests/executor/train/class_batch.h"
#include "tests/executor/train/drawn_numbers.h"

namespace slipway {
namespace {

constexpr std::int64_t steps = 50, batch_size = 32, classes = 10, side = 16, pixels = side * side;

LoadedBatch batch_of(std::int64_t step, int cores) {
    const auto prototypes = uniform(site_shuffle, 0, classes * pixels);
    const auto noise = uniform(site_augment, std::uint64_t(step), batch_size * pixels);
    const std::int64_t per_core = batch_size / cores;
    LoadedBatch batch;
    batch.sample_count = batch_size;
    for (int core = 0; core < cores; ++core) {
        Batch one{.features = Array({DType::f32, {per_core, 1, side, side}}),
                  .labels = Array({DType::i32, {per_core}}),
                  .weights = Array({DType::f32, {per_core}})};
        for (std::int64_t j = 0; j < per_core; ++j) {
            const std::int64_t sample = j * cores + core;
            const auto label = std::int32_t((sample + step) % classes);
            one.labels.as<std::int32_t>()[std::size_t(j)] = label;
            one.weights.as<float>()[std::size_t(j)] = 1.0F;
            for (std::int64_t p = 0; p < pixels; ++p) {
                one.features.as<float>()[std::size_t(j * pixels + p)] =
                    2.0F * (prototypes[std::size_t(label * pixels + p)] +
                            noise[std::size_t(sample * pixels + p)]) -
                    2.0F;
            }
        }
        batch.cores.push_back(std::move(one));
    }
    return batch;
}

Model model_of(const std::string& name) {
    Model model;
    Init init(curve_seed);
    if (name == "mlp") {
        model.forward =
            without_pass(Mlp::create(model.parameters, init, pixels, {64, 32}, classes));
    } else {
        model.forward = without_pass(LeNet::create(
            model.parameters, init,
            {.channels = 1, .height = side, .width = side, .classes = classes, .multiplier = 1}));
    }
    return model;
}

Hyper hyper_of(const std::string& optimizer) {
    if (optimizer == "adam") return {.lr = 0.0005, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    if (optimizer == "adam_eps") return {.lr = 0.001, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-5};
    if (optimizer == "sgd_nesterov") return {.lr = 0.02, .momentum = 0.9};
    return {.lr = 0.05, .momentum = 0.9, .weight_decay = 1e-4};
}

struct Setup {
    int cores, workers;
    PrecisionPolicy precision = PrecisionPolicy::f32;
};

/// The losses of all steps, and the weights after them.
std::pair<std::vector<double>, std::vector<Array>> train(const std::string& model_name,
                                                         const std::string& optimizer_name,
                                                         const Setup& setup) {
    const Model model = model_of(model_name);
    const Optimizer& optimizer =
        find_optimizer(optimizer_name == "adam_eps" ? "adam" : optimizer_name);
    Engine engine({.cores = setup.cores, .workers = setup.workers, .precision = setup.precision});
    const BatchShape shape = class_batch(batch_size / setup.cores, {1, side, side});
    std::vector<Array> values;
    for (const Parameter& parameter : model.parameters.all())
        values.push_back(parameter.value.clone());
    for (const Parameter& parameter : model.parameters.all()) {
        for (std::size_t i = 0; i < optimizer.state.size(); ++i)
            values.emplace_back(parameter.value.shape());
    }
    std::vector<double> losses;
    for (std::int64_t k = 0; k < steps; ++k) {
        // Traced again each time: equal steps are one program.
        const TracedStep step = trace_train_step(model, class_task(), optimizer, shape);
        const auto executable = engine.compile(step.graph);
        StepValues inputs(step.bindings.inputs);
        for (const StepInput name : {StepInput::parameters, StepInput::optimizer_state})
            inputs.set(name, step.bindings.inputs.of(std::span<const Array>(values), name));
        Hyper hyper = hyper_of(optimizer_name);
        hyper.step = k + 1;
        hyper.label_count = batch_size;
        inputs.set(StepInput::hyper, Value{{hyper_values(hyper)}});
        set_batch(inputs, batch_of(k, setup.cores));
        const auto outputs = engine.run(*executable, std::move(inputs).take());
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = outputs[i].arrays[0];
        losses.push_back(double(scalar_of(outputs[values.size()])) / batch_size);
    }
    EXPECT_EQ(engine.counters().compiles, 1);
    return {losses, values};
}

/// What torch gives for "MODEL/OPTIMIZER", and what we do.
struct Curves {
    std::vector<double> expected, losses;

    Curves(const std::string& name, const Setup& setup) {
        const auto slash = name.find('/');
        std::ifstream file(SLIPWAY_SOURCE_DIR "/tests/executor/train/reference/loss_curves.json");
        expected = nlohmann::json::parse(file).at(name).get<std::vector<double>>();
        losses = train(name.substr(0, slash), name.substr(slash + 1), setup).first;
    }
};

class LossCurve : public testing::TestWithParam<const char*> {};

TEST_P(LossCurve, equals_torchs_within_one_in_ten_thousand) {
    const auto [expected, losses] = Curves(GetParam(), {1, 1});
    ASSERT_EQ(losses.size(), expected.size());
    for (std::size_t k = 0; k < losses.size(); ++k) {
        EXPECT_NEAR(losses[k] / expected[k], 1.0, 1e-4) << "step " << k + 1;
    }
}

// 2^-9 is what rounding to bf16 changes a factor of a product at most. The first loss is an average
// behind a few sums of such products, whose errors nearly cancel: 2e-4. Then the weights drift
// apart, and a loss that has become small moves more in proportion to itself: 0.02 of the first.
TEST_P(LossCurve, in_bf16_stays_near_torchs_in_f32) {
    const auto [expected, losses] = Curves(GetParam(), {1, 1, PrecisionPolicy::bf16});
    ASSERT_EQ(losses.size(), expected.size());
    EXPECT_NEAR(losses[0] / expected[0], 1.0, 2e-4);
    EXPECT_GT(std::abs(losses[0] / expected[0] - 1.0), 1e-6) << "f32 would be as near as that";
    for (std::size_t k = 0; k < losses.size(); ++k) {
        EXPECT_NEAR(losses[k], expected[k], 0.02 * expected[0]) << "step " << k + 1;
    }
}

INSTANTIATE_TEST_SUITE_P(Torch, LossCurve,
                         testing::Values("mlp/sgd_momentum", "mlp/sgd_nesterov", "mlp/adam",
                                         "mlp/adam_eps", "lenet/sgd_momentum", "lenet/sgd_nesterov",
                                         "lenet/adam", "lenet/adam_eps"),
                         [](const auto& one) {
                             std::string name = one.param;
                             name[name.find('/')] = '_';
                             return name;
                         });

TEST(Cores, eight_cores_follow_one_core_with_the_same_global_batch) {
    const auto one = train("lenet", "adam", {1, 1}).first;
    const auto eight = train("lenet", "adam", {8, 2}).first;
    for (std::size_t k = 0; k < one.size(); ++k) {
        EXPECT_NEAR(eight[k] / one[k], 1.0, 1e-4) << "step " << k + 1;
    }
}

class Workers : public testing::TestWithParam<PrecisionPolicy> {};

TEST_P(Workers, their_number_changes_no_bit) {
    const auto reference = train("lenet", "sgd_momentum", {8, 1, GetParam()});
    for (const int workers : {2, 4, 8}) {
        const auto other = train("lenet", "sgd_momentum", {8, workers, GetParam()});
        EXPECT_EQ(other.first, reference.first) << workers << " workers";
        for (std::size_t i = 0; i < reference.second.size(); ++i) {
            const auto expected = reference.second[i].as<float>();
            const auto got = other.second[i].as<float>();
            EXPECT_TRUE(std::equal(expected.begin(), expected.end(), got.begin())) << "value " << i;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Precisions, Workers,
                         testing::Values(PrecisionPolicy::f32, PrecisionPolicy::bf16,
                                         PrecisionPolicy::bf16_true));

}    // namespace
}    // namespace slipway
