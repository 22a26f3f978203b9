// Goal: what train.optimizer, train.ema, train.early_stopping and model.freeze promise holds for
// whole runs, broken ones included.
// Method: as test_run.cpp; the numbers of the updates are judged in tests/executor/optim.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "executor/train/early_stopping.h"
#include "tests/executor/train/run_fixture.h"

namespace slipway {
namespace {

using Tensors = std::map<std::string, std::vector<float>>;

class RunOptimizer : public Run {
protected:
    /// Everything that can be asked for at once.
    AttemptPlan tuned() {
        AttemptPlan plan = this->plan(8);
        plan.spec.train.optimizer = {.name = OptimizerName::adamw,
                                     .lr = 0.02,
                                     .weight_decay = 0.1,
                                     .clip_norm = 0.5,
                                     .decay_exempt = {std::string(one_dimensional_word)},
                                     .groups = {{"*.bias", 2}}};
        plan.spec.train.schedule.name = ScheduleName::one_cycle;
        plan.spec.train.ema = {.decay = 0.9};
        plan.spec.train.early_stopping = {.patience = 100};
        return plan;
    }
    static Tensors tensors(const std::vector<NamedArray>& list) {
        Tensors all;
        for (const NamedArray& one : list) {
            const auto values = one.array.as<float>();
            all[one.name] = {values.begin(), values.end()};
        }
        return all;
    }
    static Checkpoint last_checkpoint(const AttemptPlan& plan) {
        return load_checkpoint(*newest_checkpoint(plan.checkpoint_folder)).value();
    }
    static EarlyStopping stopping_in(const AttemptPlan& plan) {
        const auto details = nlohmann::json::parse(last_checkpoint(plan).state.details);
        return early_stopping_from_json(details.at("early_stopping"));
    }
};

TEST_F(RunOptimizer, resumed_it_ends_with_the_same_bits_whatever_the_optimizer) {
    for (const OptimizerName name : {OptimizerName::adamw, OptimizerName::lamb}) {
        AttemptPlan undisturbed = tuned(), broken = tuned();
        undisturbed.spec.train.optimizer.name = broken.spec.train.optimizer.name = name;
        KeepingReporter whole;
        run_training(undisturbed, whole);
        EXPECT_EQ(losses_of_broken_run(broken, 7), whole.values_of("train_loss"));
        EXPECT_EQ(tensors(last_checkpoint(broken).weights),
                  tensors(last_checkpoint(undisturbed).weights));
        EXPECT_EQ(tensors(last_checkpoint(broken).optimizer),
                  tensors(last_checkpoint(undisturbed).optimizer));
        EXPECT_EQ(stopping_in(broken), stopping_in(undisturbed));
    }
}

TEST_F(RunOptimizer, the_norm_before_clipping_is_reported_at_log_steps) {
    AttemptPlan clipped = plan(), free = plan();
    clipped.spec.train.optimizer.clip_norm = 1e-3;
    KeepingReporter small, none;
    run_training(clipped, small);
    run_training(free, none);
    EXPECT_EQ(small.values_of("gradient_norm").size(), 24U);
    EXPECT_GT(std::ranges::min(small.values_of("gradient_norm")), 1e-3);
    EXPECT_TRUE(none.values_of("gradient_norm").empty());
}

TEST_F(RunOptimizer, norms_and_ratios_hold_in_every_precision) {
    std::vector<double> norms;
    for (const Precision precision : {Precision::f32, Precision::bf16, Precision::bf16_true}) {
        AttemptPlan one = plan();
        one.spec.train.optimizer = {
            .name = OptimizerName::lamb, .lr = 0.02, .weight_decay = 0.01, .clip_norm = 0.1};
        one.spec.train.precision = precision;
        KeepingReporter reporter;
        run_training(one, reporter);
        norms.push_back(reporter.values_of("gradient_norm").front());
        EXPECT_LT(reporter.values_of("val_loss").back(), 0.6) << to_string(precision);
    }
    // 2^-9 is what rounding to bf16 changes a factor by: ten of them in a row.
    EXPECT_NEAR(norms[1] / norms[0], 1, 0.02);
    EXPECT_NEAR(norms[2] / norms[0], 1, 0.02);
}

TEST_F(RunOptimizer, gradients_are_clipped_after_all_batches_of_a_step) {
    AttemptPlan at_once = plan(), in_parts = plan();
    for (AttemptPlan* one : {&at_once, &in_parts}) {
        one->spec.train.optimizer.clip_norm = 0.05;
        one->spec.train.optimizer.name = OptimizerName::sgd;
        one->spec.train.optimizer.lr = 0.5;
    }
    in_parts.spec.train.batch_size_per_core = 4;
    in_parts.spec.train.grad_accumulation = 4;
    KeepingReporter whole, parts;
    run_training(at_once, whole);
    run_training(in_parts, parts);
    const auto expected = whole.values_of("gradient_norm");
    const auto found = parts.values_of("gradient_norm");
    ASSERT_EQ(found.size(), expected.size());
    // 1e-4: two orders of float32 sums, carried on for 24 steps.
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i] / expected[i], 1, 1e-4) << i;
}

// Goal: the average is what is evaluated and what model.safetensors holds.
// Method: an average that follows at once gives the weights; one that hardly moves gives those at
// the beginning, while the training goes on as without.
TEST_F(RunOptimizer, the_average_is_evaluated_and_saved_in_place_of_the_weights) {
    AttemptPlan plain = plan(), near = plan(), far = plan();
    near.spec.train.ema = {.decay = 1e-9};
    far.spec.train.ema = {.decay = 1 - 1e-9};
    KeepingReporter first, second, third;
    run_training(plain, first);
    run_training(near, second);
    run_training(far, third);
    const Tensors weights = tensors(last_checkpoint(plain).weights);
    for (const auto& [name, values] : tensors(last_checkpoint(near).weights))
        for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_NEAR(values[i], weights.at(name)[i], 1e-6) << name;
    EXPECT_EQ(third.values_of("train_loss"), first.values_of("train_loss"));
    const auto losses = third.values_of("val_loss");
    EXPECT_NEAR(losses.front(), losses.back(), 1e-5);
    EXPECT_GT(losses.back(), first.values_of("val_loss").back() + 0.05);
    const Tensors beside = tensors(last_checkpoint(far).optimizer);
    for (const auto& [name, values] : weights)
        EXPECT_EQ(beside.at(name + ".raw"), values) << name;
}

TEST_F(RunOptimizer, what_is_frozen_keeps_its_bits_and_has_no_state) {
    AttemptPlan one_step = plan(), all_steps = plan();
    one_step.spec.train.epochs.reset();
    one_step.spec.train.steps = 1;
    for (AttemptPlan* one : {&one_step, &all_steps}) {
        one->spec.model.freeze = {"layers.0.*"};
        one->spec.train.optimizer.weight_decay = 0.1;
        one->spec.train.ema = {.decay = 0.5};
        one->spec.train.grad_accumulation = 2;
        KeepingReporter reporter;
        run_training(*one, reporter);
    }
    const Checkpoint late = last_checkpoint(all_steps);
    const Tensors early = tensors(last_checkpoint(one_step).weights);
    const auto is_frozen = [](const std::string& name) { return name.starts_with("layers.0."); };
    ASSERT_EQ(std::ranges::count_if(late.weights, is_frozen, &NamedArray::name), 2);
    for (const auto& [name, values] : tensors(late.weights))
        EXPECT_EQ(values == early.at(name), is_frozen(name)) << name;
    for (const NamedArray& state : late.optimizer)
        EXPECT_FALSE(is_frozen(state.name)) << state.name;
}

TEST_F(RunOptimizer, early_stopping_ends_a_run_that_gets_no_better) {
    AttemptPlan one = plan();
    one.spec.train.epochs = 50;
    one.spec.train.early_stopping = {.patience = 2, .min_delta = 10};
    one.spec.checkpoint.every_epochs = 0;
    KeepingReporter reporter;
    const TrainOutcome outcome = run_training(one, reporter);
    EXPECT_EQ(outcome.stopped, StopReason::none);
    EXPECT_EQ(outcome.epoch, 3);    // the first is the best, two are no better
    EXPECT_NE(outcome.stopped_early.find("val_loss was best at step 6"), std::string::npos)
        << outcome.stopped_early;
    EXPECT_EQ(reporter.values_of("val_loss").size(), 3U);
    ASSERT_EQ(reporter.checkpoints.size(), 1U);
    EXPECT_EQ(reporter.checkpoints[0].step, 18);

    one.resume_from = newest_checkpoint(one.checkpoint_folder);
    one.attempt = 2;
    KeepingReporter again;
    EXPECT_EQ(run_training(one, again).stopped_early, outcome.stopped_early);
    EXPECT_TRUE(again.values_of("train_loss").empty());
}

TEST_F(RunOptimizer, early_stopping_counts_on_after_a_resume) {
    AttemptPlan broken = plan();
    broken.spec.train.epochs = 50;
    broken.spec.train.early_stopping = {.patience = 2, .min_delta = 10};
    EXPECT_EQ(losses_of_broken_run(broken, 14).size(), 18U);
}

TEST_F(RunOptimizer, a_run_that_reaches_its_end_was_not_stopped_early) {
    AttemptPlan one = plan();
    one.spec.train.early_stopping = {.patience = 100};
    KeepingReporter reporter;
    EXPECT_EQ(run_training(one, reporter).stopped_early, "");
}

}    // namespace
}    // namespace slipway
