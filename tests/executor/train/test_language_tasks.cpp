// Goal: a language model's loss is the mean over the tokens that are predicted, each counted once,
// whatever the number of cores, the batch and the padding; and training makes it smaller.
// Method: small networks on rows in memory, through the programs that a job runs.
#include <gtest/gtest.h>

#include <cmath>

#include "executor/data/loader.h"
#include "executor/nn/models/bert.h"
#include "executor/nn/models/gpt2.h"
#include "executor/text/causal_samples.h"
#include "executor/text/masked_samples.h"
#include "executor/train/evaluate.h"
#include "executor/train/step_in_progress.h"
#include "executor/train/task.h"
#include "executor/train/train_state.h"
#include "tests/executor/text/make_rows.h"

namespace slipway {
namespace {

constexpr std::int64_t length = 12, vocabulary = 30;

Model small_bert() {
    Model model;
    Init init(3);
    const Bert network = Bert::create(model.parameters, init,
                                      {.layers = 1,
                                       .hidden = 8,
                                       .heads = 2,
                                       .vocabulary = vocabulary,
                                       .intermediate = 16,
                                       .positions = length,
                                       .padding = padding_token});
    model.forward = [network](const Tensor& tokens, ForwardPass& pass) {
        return network.predict(network.encode(tokens, pass), pass.positions);
    };
    return model;
}

Model small_gpt() {
    Model model;
    Init init(3);
    model.forward = Gpt2::create(
        model.parameters, init,
        {.layers = 1, .hidden = 8, .heads = 2, .vocabulary = vocabulary, .positions = length});
    return model;
}

/// Rows of all lengths, a text of nothing but frame among them.
TokenSequences rows() {
    return framed_rows(length, {12, 3, 12, 2, 7, 12, 5, 12, 12, 4, 11}, vocabulary);
}

JobSpec spec_of(TaskType type) {
    JobSpec spec;
    spec.task = {.type = type,
                 .metrics = {TaskMetric::loss, TaskMetric::perplexity, TaskMetric::accuracy}};
    return spec;
}

struct Language {
    TaskType type;
    Model (*model)();
    std::unique_ptr<Samples> (*samples)(const TokenSequences&);
};

std::unique_ptr<Samples> masked(const TokenSequences& sequences) {
    return masked_samples(sequences, {.seed = 7, .anew = false});
}

class LanguageTask : public testing::TestWithParam<Language> {
protected:
    MetricSums evaluated(std::int64_t batch_size, int cores) const {
        const Model model = GetParam().model();
        const TracedStep step =
            trace_evaluation_step(model, task_, {batch_size, samples_->shape()});
        Engine engine({.cores = cores, .workers = 2});
        std::vector<Array> network;
        for (const Parameter& parameter : model.parameters.all())
            network.push_back(parameter.value);
        return evaluate(engine, {engine.compile(step.graph), step.bindings}, network,
                        {.samples = *samples_,
                         .chosen = all_,
                         .batch_size_per_core = batch_size,
                         .cores = cores});
    }

    const TokenSequences rows_ = rows();
    const std::unique_ptr<Samples> samples_ = GetParam().samples(rows_);
    const Task task_ = make_task(spec_of(GetParam().type));
    const std::vector<std::int64_t> all_{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
};

TEST_P(LanguageTask, counts_every_label_once) {
    std::int64_t labels = 0;
    for (const std::int64_t sample : all_)
        labels += samples_->label_count(sample);
    const MetricSums one_by_one = evaluated(1, 1), padded = evaluated(2, 8);
    EXPECT_EQ(one_by_one.scalar("labels"), labels);
    EXPECT_EQ(padded.scalar("labels"), labels);
    // f32 sums of some seventy losses of 3.4.
    EXPECT_NEAR(one_by_one.mean("loss"), padded.mean("loss"), 1e-6);
    EXPECT_EQ(one_by_one.mean("correct"), padded.mean("correct"));
}

TEST_P(LanguageTask, says_perplexity_and_accuracy) {
    const MetricSums sums = evaluated(4, 1);
    const MetricValues values = task_.values(sums);
    ASSERT_EQ(values.size(), 3U);
    EXPECT_EQ(values[0].first, "loss");
    EXPECT_NEAR(values[0].second, std::log(double(vocabulary)), 0.1) << "nothing is known yet";
    EXPECT_EQ(value_of(values, "perplexity"), std::exp(values[0].second));
    EXPECT_EQ(value_of(values, "accuracy"), sums.scalar("correct") / sums.scalar("labels"));

    JobSpec spec = spec_of(GetParam().type);
    spec.task.metrics = {TaskMetric::loss};
    const Task quiet = make_task(spec);
    EXPECT_EQ(quiet.values(sums).size(), 1U);
}

TEST_P(LanguageTask, learns) {
    const Model model = GetParam().model();
    const Optimizer& optimizer = find_optimizer("adam");
    const TracedStep step = trace_train_step(model, task_, optimizer, {2, samples_->shape()});
    Engine engine({.cores = 2, .workers = 2});
    const auto program = engine.compile(step.graph);
    TrainState state = initial_state(model, optimizer);
    Sampler sampler(
        all_, {.seed = 1, .batch_size_per_core = 2, .cores = 2, .drop_last = false, .epochs = 40},
        [&](std::int64_t sample) { return samples_->label_count(sample); });
    StepInProgress progress(model, optimizer, step.bindings);
    double first = 0, last = 0;
    Loader loader(*samples_, sampler);
    while (const auto batch = loader.next()) {
        const Hyper hyper{.lr = 0.01,
                          .beta1 = 0.9,
                          .beta2 = 0.999,
                          .eps = 1e-8,
                          .step = ++state.step,
                          .label_count = double(batch->step_labels),
                          .core_count = 2};
        progress.take(engine.run(*program, progress.inputs(state, hyper, *batch)), *batch, state);
        const MetricSums sums = progress.finish();
        EXPECT_EQ(sums.scalar("labels"), batch->step_labels);
        last = value_of(task_.values(sums), "loss");
        if (first == 0) first = last;
    }
    EXPECT_LT(last, 0.8 * first);
}

INSTANTIATE_TEST_SUITE_P(Tasks, LanguageTask,
                         testing::Values(Language{TaskType::masked_lm, small_bert, masked},
                                         Language{TaskType::causal_lm, small_gpt, causal_samples}),
                         [](const auto& one) { return std::string(to_string(one.param.type)); });

}    // namespace
}    // namespace slipway
