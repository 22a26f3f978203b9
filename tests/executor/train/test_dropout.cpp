// Goal: training drops, evaluation does not; what is dropped follows from seed, step and place.
// Method: a network that only drops, on ones, through the programs of a training step and of an
// evaluation.
#include "executor/train/dropout.h"

#include <gtest/gtest.h>

#include <set>

#include "executor/engine/engine.h"
#include "executor/train/evaluate.h"
#include "executor/train/step.h"

namespace slipway {
namespace {

constexpr std::int64_t features = 64, batch_size = 3;
constexpr int cores = 2;

LoadedBatch ones(std::int64_t number) {
    LoadedBatch batch;
    batch.position.batch = number;
    for (int core = 0; core < cores; ++core) {
        Batch part{.features = Array({DType::f32, {batch_size, features}}),
                   .labels = Array({DType::i32, {batch_size}}),
                   .weights = Array({DType::f32, {batch_size}})};
        std::ranges::fill(part.features.as<float>(), 1.0F);
        std::ranges::fill(part.weights.as<float>(), 1.0F);
        batch.cores.push_back(std::move(part));
    }
    return batch;
}

/// y = dropped(x) * weight, and its sum as the loss.
Model dropping(double rate) {
    Model model;
    const Tensor weight = model.parameters.add("weight", filled({}, 1));
    model.dropout = rate;
    model.forward = [weight](const Tensor& x, ForwardPass& pass) {
        return dropped(x, pass) * broadcast(weight, x.dims());
    };
    return model;
}

Task sum_of_outputs() {
    return {.trace =
                [](const Model& model, const BatchInputs& batch, ForwardPass& pass) {
                    const Tensor y = model.forward(batch.features, pass);
                    return std::vector<TaskSum>{
                        {"loss", reduce(y, {0, 1}, Reduction::add)},
                        {"labels", reduce(batch.weights, {0}, Reduction::add)}};
                },
            .values = {}};
}

/// A training step of the network, whose sums it gives: one program for every seed and step.
class Trained {
public:
    explicit Trained(double rate)
        : step_(trace_train_step(dropping(rate), sum_of_outputs(), find_optimizer("sgd"),
                                 {batch_size, class_sample_shape({features})})),
          program_(engine_.compile(step_.graph)) {}

    double sum(const DropoutSource& source, std::int64_t step, std::int64_t batch) {
        StepValues values(step_.bindings.inputs);
        values.set(StepInput::parameters, Value{{filled({}, 1)}});
        values.set(StepInput::hyper, Value{{hyper_values({})}});
        set_dropout(values, source, step, ones(batch));
        set_batch(values, ones(batch));
        return double(scalar_of(engine_.run(*program_, std::move(values).take())[1]));
    }

private:
    Engine engine_{{.cores = cores, .workers = 2}};
    TracedStep step_;
    std::shared_ptr<const Executable> program_;
};

constexpr double kept = batch_size * cores * features;

TEST(TrainingDropout, drops_a_share_and_scales_the_rest) {
    // 384 numbers of 0 or 4/3: their sum is 384 with a deviation of 11.
    const double sum = Trained(0.25).sum({.rate = 0.25, .seed = 1}, 0, 0);
    EXPECT_NE(sum, kept);
    EXPECT_NEAR(sum, kept, 5 * 11);
    EXPECT_EQ(Trained(0).sum({}, 0, 0), kept);
}

TEST(TrainingDropout, is_drawn_anew_for_each_seed_step_and_batch_of_a_step) {
    Trained trained(0.5);
    const auto sum = [&](std::uint64_t seed, std::int64_t step, std::int64_t batch) {
        return trained.sum({.rate = 0.5, .seed = seed, .batches_per_step = 2}, step, batch);
    };
    EXPECT_EQ(sum(1, 3, 1), sum(1, 3, 1));
    EXPECT_EQ(sum(1, 3, 1), sum(1, 3, 5)) << "the step says which epoch it is";
    EXPECT_GT((std::set{sum(1, 3, 0), sum(1, 3, 1), sum(1, 4, 0), sum(2, 3, 0)}).size(), 2U);
}

TEST(TrainingDropout, leaves_evaluation_alone) {
    const Model model = dropping(0.5);
    const TracedStep program = trace_evaluation_step(model, sum_of_outputs(),
                                                     {batch_size, class_sample_shape({features})});
    StepValues values(program.bindings.inputs);
    values.set(StepInput::parameters, Value{{model.parameters.all()[0].value}});
    set_batch(values, ones(0));
    Engine engine({.cores = cores, .workers = 2});
    const auto outputs = engine.run(*engine.compile(program.graph), std::move(values).take());
    EXPECT_EQ(double(scalar_of(outputs[0])), kept);
}

TEST(TrainingDropout, numbers_the_samples_of_a_step) {
    Bindings<StepInput> inputs;
    for (const StepInput name :
         {StepInput::dropout_rate, StepInput::dropout_key, StepInput::first_sample})
        inputs.add(name, 1);
    StepValues values(inputs);
    set_dropout(values, {.rate = 0.1, .seed = 1, .batches_per_step = 4}, 0, ones(6));
    const std::vector<Value> taken = std::move(values).take();
    EXPECT_EQ(scalar_of(taken[0]), 0.1F);
    // Batch 6 is the third of its step, after two of 2 x 3 samples.
    ASSERT_EQ(taken[2].arrays.size(), 2U);
    EXPECT_EQ(taken[2].arrays[0].as<std::int32_t>()[0], 12);
    EXPECT_EQ(taken[2].arrays[1].as<std::int32_t>()[0], 15);
    const Bindings<StepInput> none;
    StepValues no_values(none);
    set_dropout(no_values, {}, 0, ones(6));
    EXPECT_TRUE(std::move(no_values).take().empty());
}

}    // namespace
}    // namespace slipway
