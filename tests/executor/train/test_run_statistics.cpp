// Goal: batch norm's running statistics are part of a run: moved by each batch, read by
// evaluations, kept in checkpoints and found again.
// Method: a small network step by step, its statistics calculated here in double; whole runs of
// resnet18 on random images. torch is compared by reference/compare_torchvision.py.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "executor/engine/engine.h"
#include "executor/nn/batch_normalization.h"
#include "executor/nn/linear.h"
#include "executor/train/evaluate.h"
#include "executor/train/step_in_progress.h"
#include "tests/executor/train/class_batch.h"
#include "tests/executor/train/run_fixture.h"

namespace slipway {
namespace {

constexpr std::int64_t channels = 2, side = 3, classes = 3, batch_size = 4;
constexpr int cores = 2;
constexpr double epsilon = 1e-5, momentum = 0.1;

/// Batch norm of the images themselves, then a linear layer: what the statistics must become can be
/// seen in the images.
Model normalising_model() {
    Model model;
    Init init(5);
    const auto norm = BatchNormalization::create(model.parameters, "norm", channels);
    const auto head =
        Linear::create(model.parameters, init, "head", channels * side * side, classes);
    model.forward = [norm, head](const Tensor& x, ForwardPass& pass) {
        return head(reshape(norm(x, pass), {x.dims()[0], channels * side * side}));
    };
    return model;
}

LoadedBatch random_batch(std::uint64_t number, bool ends_step) {
    LoadedBatch batch;
    batch.step_labels = 2 * cores * batch_size;
    batch.ends_step = ends_step;
    for (int core = 0; core < cores; ++core) {
        Batch one{.features = Array({DType::f32, {batch_size, channels, side, side}}),
                  .labels = Array({DType::i32, {batch_size}}),
                  .weights = filled({batch_size}, 1)};
        RandomStream random(3, site_augment, number * cores + std::uint64_t(core));
        for (float& value : one.features.as<float>())
            value = 3 * random.next_normal() + 1;
        batch.cores.push_back(std::move(one));
    }
    return batch;
}

struct Moment {
    double mean, variance;    ///< of one channel on one core; the variance with n, not n - 1
};

constexpr std::int64_t values_per_core = batch_size * side * side;

Moment moment_of(const Array& images, std::int64_t channel) {
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < images.element_count(); ++i) {
        if (i / (side * side) % channels != channel) continue;
        const auto x = double(images.as<float>()[std::size_t(i)]);
        sum += x;
        squares += x * x;
    }
    const double mean = sum / values_per_core;
    return {mean, squares / values_per_core - mean * mean};
}

/// Towards the mean over the cores, the variance unbiased: torch's rule for each core.
void move(std::vector<double>& mean, std::vector<double>& variance, const LoadedBatch& batch) {
    for (std::int64_t channel = 0; channel < channels; ++channel) {
        Moment all{0, 0};
        for (const Batch& core : batch.cores) {
            const Moment one = moment_of(core.features, channel);
            all.mean += one.mean / cores;
            all.variance += one.variance / cores;
        }
        const double unbiased = all.variance * values_per_core / (values_per_core - 1);
        double& running_mean = mean[std::size_t(channel)];
        double& running_variance = variance[std::size_t(channel)];
        running_mean = (1 - momentum) * running_mean + momentum * all.mean;
        running_variance = (1 - momentum) * running_variance + momentum * unbiased;
    }
}

void expect_values(const Array& found, const std::vector<double>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(found.as<float>()[i], expected[i], 1e-5) << i;    // sums of 36 numbers in f32
}

/// A step of two batches on two cores, with the programs of a job.
struct Trainer {
    Model model = normalising_model();
    const Optimizer& optimizer = find_optimizer("sgd_momentum");
    BatchShape shape = class_batch(batch_size, {channels, side, side});
    Task task = class_task();
    Engine engine{{.cores = cores, .workers = 2}};
    TrainState state = initial_state(model, optimizer);
    TracedStep last = trace_train_step(model, task, optimizer, shape, Accumulation::finished);
    TracedStep before = trace_accumulation_step(model, task, optimizer, shape);
    StepInProgress step{model, optimizer, last.bindings, before.bindings};

    void run(const LoadedBatch& batch) {
        const Graph& graph = batch.ends_step ? last.graph : before.graph;
        const Hyper hyper{.lr = 0.1,
                          .momentum = 0.9,
                          .label_count = double(batch.step_labels),
                          .core_count = cores};
        const auto inputs = step.inputs(state, hyper, batch);
        step.take(engine.run(*engine.compile(graph), inputs), batch, state);
        if (batch.ends_step) step.finish();
    }
    std::span<const Array> statistics() const {
        return std::span<const Array>(state.values).last(model.parameters.statistics().size());
    }
};

TEST(RunningStatistics, each_batch_of_a_step_moves_them) {
    Trainer trainer;
    std::vector<double> mean(channels, 0), variance(channels, 1);
    for (std::uint64_t number = 0; number < 4; ++number) {
        const LoadedBatch batch = random_batch(number, number % 2 == 1);
        trainer.run(batch);
        move(mean, variance, batch);
        if (!batch.ends_step) continue;
        expect_values(trainer.statistics()[0], mean);
        expect_values(trainer.statistics()[1], variance);
    }
}

TEST(RunningStatistics, a_step_that_is_given_up_inputs_them) {
    Trainer trainer;
    trainer.run(random_batch(0, false));
    expect_values(trainer.statistics()[0], {0, 0});
    expect_values(trainer.statistics()[1], {1, 1});
}

TEST(RunningStatistics, are_what_evaluations_normalise_by) {
    Trainer trainer;
    trainer.run(random_batch(0, false));
    trainer.run(random_batch(1, true));
    const LoadedBatch batch = random_batch(7, true);
    const TracedStep evaluation = trace_evaluation_step(trainer.model, trainer.task, trainer.shape);
    StepValues bound(evaluation.bindings.inputs);
    set_network(bound, network_values(trainer.state, trainer.model, trainer.optimizer));
    set_batch(bound, batch);
    const std::vector<Value> inputs = std::move(bound).take();
    const auto outputs = trainer.engine.run(*trainer.engine.compile(evaluation.graph), inputs);

    const auto values = [&](std::size_t i) { return inputs[i].arrays[0].as<float>(); };
    double loss = 0;
    for (const Batch& core : batch.cores) {
        for (std::int64_t sample = 0; sample < batch_size; ++sample) {
            std::vector<double> logits(classes);
            constexpr std::int64_t features = channels * side * side;
            for (std::int64_t k = 0; k < classes; ++k) {
                logits[std::size_t(k)] = double(values(3)[std::size_t(k)]);
                for (std::int64_t i = 0; i < features; ++i) {
                    const auto channel = std::size_t(i / (side * side));
                    const auto x =
                        double(core.features.as<float>()[std::size_t(sample * features + i)]);
                    const double normal = (x - double(values(4)[channel])) /
                                          std::sqrt(double(values(5)[channel]) + epsilon);
                    logits[std::size_t(k)] +=
                        double(values(2)[std::size_t(k * features + i)]) *
                        (normal * double(values(0)[channel]) + double(values(1)[channel]));
                }
            }
            double total = 0;
            for (const double logit : logits)
                total += std::exp(logit);
            loss += std::log(total) - logits[0];
        }
    }
    EXPECT_NEAR(scalar_of(outputs[0]), loss, 1e-4);    // a sum of 8 losses near 2 in f32
}

std::string big_endian(std::uint32_t word) {
    return {char(word >> 24), char(word >> 16), char(word >> 8), char(word)};
}

class RunStatistics : public Run {
protected:
    /// 40 images of 12 x 12, dark or bright, with noise.
    std::filesystem::path images() {
        constexpr std::uint32_t count = 40, size = 12;
        RandomStream stream(3, site_augment, 0);
        std::string pixels =
            big_endian(0x803) + big_endian(count) + big_endian(size) + big_endian(size);
        std::string labels = big_endian(0x801) + big_endian(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            labels += char(i % 2);
            for (std::uint32_t pixel = 0; pixel < size * size; ++pixel)
                pixels += char(stream.next_below(128) + (i % 2) * 96);
        }
        folder_.write("images/train-labels-idx1-ubyte", labels);
        return folder_.write("images/train-images-idx3-ubyte", pixels).parent_path();
    }

    AttemptPlan resnet(std::int64_t core_count) {
        AttemptPlan one = plan(core_count);
        one.spec.model.arch = Arch::resnet18;
        one.spec.train.optimizer = {.name = OptimizerName::sgd, .lr = 0.02, .momentum = 0.9};
        one.spec.checkpoint.every_epochs = 0;    // 90 MB each: at the end, and where it stops
        one.spec.train.epochs.reset();
        one.spec.train.steps = 4;
        one.spec.train.batch_size_per_core = 16 / core_count;
        one.dataset_format = "idx";
        one.dataset_path = images();
        return one;
    }

    static std::map<std::string, Array> named_weights_of(const AttemptPlan& plan) {
        std::map<std::string, Array> named;
        for (const NamedArray& one : weights_of(plan))
            named.emplace(one.name, one.array);
        return named;
    }

    static void expect_same_bytes(const AttemptPlan& left, const AttemptPlan& right) {
        const auto a = named_weights_of(left), b = named_weights_of(right);
        ASSERT_EQ(a.size(), 9U);
        ASSERT_EQ(b.size(), 9U);
        for (const auto& [name, array] : a) {
            const std::span one(array.bytes(), std::size_t(array.byte_count()));
            const Array& other = b.at(name);
            const std::span two(other.bytes(), std::size_t(other.byte_count()));
            EXPECT_TRUE(std::ranges::equal(one, two)) << name;
        }
    }
};

TEST_F(RunStatistics, a_residual_network_learns_on_one_core) {
    const AttemptPlan one = resnet(1);
    KeepingReporter reporter;
    run_training(one, reporter);
    const auto losses = reporter.values_of("train_loss");
    ASSERT_EQ(losses.size(), 4U);
    EXPECT_LT(losses.back(), losses.front());
    EXPECT_EQ(reporter.values_of("val_loss").size(), 2U);
    const auto weights = named_weights_of(one);
    EXPECT_EQ(weights.size(), 122U);
    for (const char* name : {"bn1.num_batches_tracked", "layer4.1.bn2.num_batches_tracked"}) {
        EXPECT_EQ(weights.at(name).shape(), (Shape{DType::i64, {}}));
        EXPECT_EQ(weights.at(name).as<std::int64_t>()[0], 4);
    }
    EXPECT_NE(weights.at("layer1.0.bn1.running_mean").as<float>()[0], 0.0F);
    EXPECT_NE(weights.at("layer4.0.downsample.1.running_var").as<float>()[0], 1.0F);
}

TEST_F(RunStatistics, resumed_within_an_accumulating_run_they_have_the_same_bits) {
    const auto accumulating = [&] {
        AttemptPlan one = resnet(2);
        one.spec.model.arch = Arch::layers;
        one.spec.model.layers = {
            {.type = LayerType::conv2d, .name = "conv", .out_channels = 4, .kernel_size = 3},
            {.type = LayerType::batch_norm, .name = "norm"},
            {.type = LayerType::relu},
            {.type = LayerType::global_avg_pool},
            {.type = LayerType::flatten},
            {.type = LayerType::linear, .name = "head"}};
        one.spec.train.batch_size_per_core = 2;
        one.spec.train.grad_accumulation = 2;
        return one;
    };
    const AttemptPlan undisturbed = accumulating();
    KeepingReporter whole;
    run_training(undisturbed, whole);
    AttemptPlan broken = accumulating();
    EXPECT_EQ(losses_of_broken_run(broken, 2), whole.values_of("train_loss"));
    expect_same_bytes(broken, undisturbed);
    EXPECT_EQ(named_weights_of(broken).at("norm.num_batches_tracked").as<std::int64_t>()[0], 8);
}

class SyncedNorms : public Run {
protected:
    std::vector<double> losses(std::int64_t core_count, bool sync) {
        AttemptPlan one = plan(core_count);
        one.spec.model.arch = Arch::layers;
        one.spec.model.layers = {{.type = LayerType::linear, .out_features = 8},
                                 {.type = LayerType::batch_norm},
                                 {.type = LayerType::relu},
                                 {.type = LayerType::linear}};
        one.spec.model.sync_batch_norm = sync;
        one.spec.train.epochs = 1;
        KeepingReporter reporter;
        run_training(one, reporter);
        return reporter.values_of("train_loss");
    }
};

TEST_F(SyncedNorms, make_no_difference_between_one_core_and_eight) {
    const std::vector<double> synced = losses(1, true);
    EXPECT_EQ(losses(8, true), synced);
    EXPECT_NE(losses(8, false), synced);
    EXPECT_EQ(losses(1, false), synced) << "one core has nobody to differ from";
}

}    // namespace
}    // namespace slipway
