// Goal: a run says what it should, stops when asked, and goes on from a checkpoint with the same
// bits. Method: whole runs on a small table, with a Reporter that keeps everything and asks to stop
// at a chosen step.
#include "executor/train/run.h"
#include "executor/train/train_error.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "executor/train/settings.h"
#include "tests/executor/train/run_fixture.h"

namespace slipway {
namespace {

TEST_F(Run, says_states_metrics_and_checkpoints_in_order) {
    KeepingReporter reporter;
    const AttemptPlan one = plan();
    const TrainOutcome outcome = run_training(one, reporter);
    EXPECT_EQ(outcome.stopped, StopReason::none);
    EXPECT_EQ(reporter.states, (std::vector<std::string>{"compiling", "running", "finishing"}));
    EXPECT_EQ(reporter.values_of("train_loss").size(), 24U);    // 96 rows / 16, four epochs
    EXPECT_EQ(reporter.values_of("val_loss").size(), 4U);
    EXPECT_EQ(reporter.checkpoints.size(), 4U);
    EXPECT_EQ(reporter.last_progress.step, 24);
    EXPECT_EQ(reporter.programs.size(), 2U);
    EXPECT_LT(reporter.values_of("val_loss").back(), 0.5);
    ASSERT_TRUE(outcome.best);
    EXPECT_EQ(outcome.best->second, std::ranges::min(reporter.values_of("val_loss")));
}

TEST_F(Run, measures_what_the_spec_asks_for) {
    AttemptPlan both = plan(), one = plan();
    one.spec.task.metrics = {TaskMetric::loss};
    KeepingReporter more, less;
    run_training(both, more);
    run_training(one, less);
    EXPECT_EQ(more.values_of("train_accuracy").size(), 24U);
    EXPECT_EQ(more.values_of("val_accuracy").size(), 4U);
    EXPECT_EQ(less.values_of("train_accuracy").size(), 0U);
    EXPECT_EQ(less.values_of("val_accuracy").size(), 0U);
    EXPECT_EQ(less.values_of("val_loss"), more.values_of("val_loss"));
}

TEST_F(Run, resumed_anywhere_it_ends_with_the_same_bits) {
    const AttemptPlan undisturbed = plan(8);
    KeepingReporter whole;
    run_training(undisturbed, whole);
    for (const std::int64_t stop : {1, 6, 13}) {
        AttemptPlan broken = plan(8);
        EXPECT_EQ(losses_of_broken_run(broken, stop), whole.values_of("train_loss"))
            << "stopped at " << stop;
        expect_same_bits(broken, undisturbed);
    }
}

TEST_F(Run, a_checkpoint_is_saved_on_request_and_training_goes_on) {
    const AttemptPlan undisturbed = plan();
    KeepingReporter whole, saving;
    run_training(undisturbed, whole);
    AttemptPlan asked = plan();
    saving.save_at_step = 3;
    run_training(asked, saving);
    ASSERT_EQ(saving.checkpoints.size(), whole.checkpoints.size() + 1);
    EXPECT_GE(saving.checkpoints[0].step, 3);
    EXPECT_LT(saving.checkpoints[0].step, whole.checkpoints[0].step);
    EXPECT_EQ(saving.values_of("train_loss"), whole.values_of("train_loss"));
    expect_same_bits(asked, undisturbed);
}

TEST_F(Run, another_jobs_training_is_continued_with_the_same_bits_and_checkpoints_of_its_own) {
    const AttemptPlan undisturbed = plan();
    KeepingReporter whole, first, second;
    run_training(undisturbed, whole);
    AttemptPlan origin = plan();
    first.stop_at_step = 6;
    run_training(origin, first);
    AttemptPlan fork = plan();
    fork.resume_from = newest_checkpoint(origin.checkpoint_folder);
    run_training(fork, second);
    expect_same_bits(fork, undisturbed);
    for (const SavedCheckpoint& saved : second.checkpoints) {
        EXPECT_TRUE(std::filesystem::exists(fork.checkpoint_folder / saved.name)) << saved.name;
        for (const auto* names : {&saved.last, &saved.best, &saved.pruned})
            for (const std::string& name : *names)
                EXPECT_TRUE(std::ranges::count(second.checkpoints, name, &SavedCheckpoint::name))
                    << name << " is the other job's";
    }
}

TEST_F(Run, a_failure_names_the_batch_that_it_was_in) {
    AttemptPlan ruined = plan();
    ruined.spec.train.optimizer.lr = 1e30;
    RunPosition position;
    std::string where;
    ruined.position = &position;
    ruined.on_failure = [&where](const std::string& place) { where = place; };
    KeepingReporter reporter;
    EXPECT_THROW(run_training(ruined, reporter), TrainError);
    const auto failure = nlohmann::json::parse(where);
    EXPECT_EQ(failure["step"], position.step);
    EXPECT_EQ(failure["batch"], position.batch);
    EXPECT_EQ(failure["epoch"], position.epoch);
    EXPECT_EQ(failure["samples"].size(), failure["sample_count"]);
    EXPECT_EQ(failure["shapes"]["features"], nlohmann::json({4}));
    EXPECT_FALSE(phase_of(position).empty());
}

TEST_F(Run, what_has_changed_since_the_checkpoint_is_named) {
    AttemptPlan one = plan();
    KeepingReporter first, second, third;
    first.stop_at_step = 3;
    run_training(one, first);
    one.resume_from = newest_checkpoint(one.checkpoint_folder);
    one.attempt = 2;
    one.passed_over = {"the checkpoint step_000009_attempt_1 is damaged"};
    AttemptPlan other = one;
    other.spec.train.optimizer.lr = 0.5;
    run_training(other, second);
    EXPECT_THAT(second.logs, testing::Contains(testing::HasSubstr(
                                 "the spec has changed: train.optimizer.lr: 0.02 -> 0.5")));
    EXPECT_THAT(second.logs, testing::Contains(testing::HasSubstr(
                                 "step_000009_attempt_1 is damaged; continuing from step_00000")));
    other.spec.train.optimizer.lr = 0.02;
    other.spec.model.width = 16;
    try {
        run_training(other, third);
        FAIL() << "a checkpoint of another network was taken";
    } catch (const TrainError& error) {
        EXPECT_EQ(error.reason(), "spec_error");
        EXPECT_THAT(error.what(), testing::HasSubstr("model.width: 8 -> 16"));
    }
    one.attempt = 3;
    KeepingReporter same;
    run_training(one, same);
    EXPECT_THAT(same.logs, testing::Not(testing::Contains(testing::HasSubstr("has changed"))));
}

TEST_F(Run, the_number_of_threads_changes_no_bit) {
    AttemptPlan one = plan(8), two = plan(8);
    one.worker_threads = 1;
    KeepingReporter first, second;
    run_training(one, first);
    run_training(two, second);
    expect_same_bits(one, two);
}

TEST_F(Run, one_core_gives_the_bits_of_eight_with_the_same_global_batch) {
    const AttemptPlan one = plan(1), eight = plan(8);
    expect_same_run(one, eight);
}

// Goal: the parts of one core's batch are shared out to threads as cores are, without a change.
TEST_F(Run, one_core_gives_the_same_bits_on_any_number_of_threads) {
    AttemptPlan alone = plan(1);
    alone.worker_threads = 1;
    KeepingReporter first;
    run_training(alone, first);
    for (const int threads : {2, 4, 8, 16}) {
        AttemptPlan shared = plan(1);
        shared.worker_threads = threads;
        KeepingReporter reporter;
        run_training(shared, reporter);
        EXPECT_EQ(reporter.values_of("train_loss"), first.values_of("train_loss")) << threads;
        EXPECT_EQ(reporter.values_of("val_loss"), first.values_of("val_loss")) << threads;
        expect_same_bits(shared, alone);
    }
}

TEST(PartCount, keeps_threads_busy_and_depends_on_them_only_where_bits_may_differ) {
    JobSpec spec;
    const auto parts = [&](std::int64_t batch, int threads) {
        spec.train.batch_size_per_core = batch;
        return part_count(spec, threads);
    };
    spec.accelerator.cores = 1;
    for (const int threads : {1, 2, 4, 16}) {
        EXPECT_EQ(parts(64, threads), 8);
        EXPECT_EQ(parts(100, threads), 4);
        EXPECT_EQ(parts(7, threads), 1);
    }
    spec.train.deterministic = false;
    EXPECT_EQ(parts(64, 1), 1);
    EXPECT_EQ(parts(64, 2), 2);
    EXPECT_EQ(parts(64, 7), 4);
    EXPECT_EQ(parts(64, 16), 16);
    EXPECT_EQ(parts(100, 16), 4);
    spec.accelerator.cores = 8;
    EXPECT_EQ(parts(7, 16), 8);
    EXPECT_EQ(parts(64, 4), 8);
    EXPECT_EQ(parts(64, 20), 16);
    EXPECT_EQ(parts(64, 64), 64);
    spec.train.deterministic = true;
    EXPECT_EQ(parts(64, 64), 8);
}

TEST_F(Run, a_job_that_need_not_be_deterministic_computes_its_batch_whole_on_one_thread) {
    AttemptPlan whole = plan(1);
    whole.spec.train.deterministic = false;
    whole.worker_threads = 1;
    KeepingReporter first, second;
    run_training(whole, first);
    run_training(plan(1), second);
    const auto losses = first.values_of("train_loss");
    const auto expected = second.values_of("train_loss");
    ASSERT_EQ(losses.size(), expected.size());
    // 1e-3: two orders of float32 sums, carried on for 24 steps.
    for (std::size_t i = 0; i < losses.size(); ++i)
        EXPECT_NEAR(losses[i], expected[i], 1e-3);
}

TEST_F(Run, cancelled_work_is_saved_at_the_step_it_had_reached) {
    KeepingReporter reporter;
    reporter.stop_at_step = 3;
    reporter.reason = StopReason::cancel;
    const TrainOutcome outcome = run_training(plan(), reporter);
    EXPECT_EQ(outcome.stopped, StopReason::cancel);
    ASSERT_EQ(reporter.checkpoints.size(), 1U);
    EXPECT_EQ(reporter.checkpoints[0].step, outcome.step);
}

// One step of a rate that ruins the weights: its own loss was taken before, and is a number.
// Goal: a job that wants no checkpoint of its end leaves none, however it ends, with the same
// values; one that goes on later is saved.
TEST_F(Run, without_save_final_only_what_goes_on_is_saved) {
    KeepingReporter whole;
    const TrainOutcome with = run_training(plan(), whole);
    AttemptPlan lean = plan();
    lean.spec.checkpoint.every_epochs = 0;
    lean.spec.checkpoint.save_final = false;
    KeepingReporter reporter;
    const TrainOutcome without = run_training(lean, reporter);
    EXPECT_EQ(without.final_values, with.final_values);
    EXPECT_TRUE(reporter.checkpoints.empty());
    constexpr std::pair<StopReason, std::size_t> saves_of[] = {
        {StopReason::cancel, 0}, {StopReason::timeout, 0}, {StopReason::drain, 1}};
    for (const auto& [reason, saves] : saves_of) {
        KeepingReporter stopped;
        stopped.stop_at_step = 3;
        stopped.reason = reason;
        run_training(lean, stopped);
        EXPECT_EQ(stopped.checkpoints.size(), saves) << int(reason);
    }
}

TEST_F(Run, a_last_validation_loss_that_is_no_number_fails_after_it_is_saved_and_told) {
    AttemptPlan one = plan();
    one.spec.train.epochs.reset();
    one.spec.train.steps = 1;
    one.spec.train.optimizer = {.name = OptimizerName::sgd, .lr = 1e30};
    KeepingReporter reporter;
    try {
        run_training(one, reporter);
        FAIL() << "it succeeded";
    } catch (const TrainError& error) {
        EXPECT_EQ(error.reason(), "nan_loss");
        EXPECT_THAT(error.what(), testing::HasSubstr("at step 1"));
    }
    ASSERT_EQ(reporter.values_of("val_loss").size(), 1U);
    EXPECT_FALSE(std::isfinite(reporter.values_of("val_loss")[0]));
    ASSERT_EQ(reporter.checkpoints.size(), 1U);
    EXPECT_EQ(reporter.checkpoints[0].kinds, std::vector<std::string>{"last"});
    ASSERT_TRUE(reporter.checkpoints[0].metric);
    EXPECT_FALSE(std::isfinite(reporter.checkpoints[0].metric->second));
    EXPECT_THAT(reporter.logs, testing::Contains(testing::HasSubstr("val_loss is ")));
    one.resume_from = newest_checkpoint(one.checkpoint_folder);
    one.attempt = 2;
    KeepingReporter second;
    try {
        run_training(one, second);
        FAIL() << "resumed with no step left, it succeeded";
    } catch (const TrainError& error) {
        EXPECT_EQ(error.reason(), "nan_loss");
        EXPECT_THAT(error.what(), testing::HasSubstr("(now 1e+30)"));
    }
}

TEST_F(Run, short_epochs_do_not_say_their_progress_each) {
    AttemptPlan many = plan();
    many.spec.train.epochs = 40;
    KeepingReporter reporter;
    const auto begin = std::chrono::steady_clock::now();
    const TrainOutcome outcome = run_training(many, reporter);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(reporter.values_of("val_loss").size(), 40U);
    // The beginning, the first evaluation and the end, and twice a second.
    EXPECT_LE(double(reporter.progress_said.size()), 3 + 2 * took.count());
    EXPECT_EQ(reporter.progress_said.front().step, 0);
    EXPECT_EQ(reporter.last_progress.step, outcome.step);
    EXPECT_EQ(reporter.last_progress.phase, "evaluate");
}

TEST_F(Run, who_stops_early_or_is_asked_to_says_its_last_step) {
    AttemptPlan early = plan();
    early.spec.train.epochs = 40;
    early.spec.train.early_stopping = {.metric = "val_loss", .patience = 1, .min_delta = 100.0};
    KeepingReporter first, second;
    const TrainOutcome outcome = run_training(early, first);
    EXPECT_FALSE(outcome.stopped_early.empty());
    EXPECT_EQ(first.last_progress.step, outcome.step);
    second.stop_at_step = 5;
    const AttemptPlan asked = plan();
    EXPECT_EQ(run_training(asked, second).stopped, StopReason::drain);
    EXPECT_EQ(second.last_progress.step, 5);
}

// An attempt may be killed between its last checkpoint and saying how it ended.
TEST_F(Run, resumed_with_no_step_left_it_ends_as_the_lost_attempt_would_have) {
    AttemptPlan one = plan();
    one.report_folder = folder_.path() / "first";
    KeepingReporter first, second;
    const TrainOutcome lost = run_training(one, first);
    ASSERT_FALSE(lost.final_values.empty());
    one.resume_from = newest_checkpoint(one.checkpoint_folder);
    one.attempt = 2;
    one.report_folder = folder_.path() / "second";
    const TrainOutcome found = run_training(one, second);
    EXPECT_EQ(found.stopped, StopReason::none);
    EXPECT_EQ(found.step, lost.step);
    EXPECT_EQ(found.final_values, lost.final_values);
    EXPECT_EQ(found.best, lost.best);
    EXPECT_EQ(second.states, first.states);
    EXPECT_TRUE(second.points.empty()) << "the curves have them";
    EXPECT_TRUE(second.checkpoints.empty());
    EXPECT_EQ(read_file(folder_.path() / "second/evaluation.json"),
              read_file(folder_.path() / "first/evaluation.json"));
}

TEST_F(Run, resumed_with_no_step_left_and_nothing_to_validate_it_ends) {
    AttemptPlan one = plan();
    one.spec.data.split.val_fraction = 0;
    KeepingReporter first, second;
    run_training(one, first);
    one.resume_from = newest_checkpoint(one.checkpoint_folder);
    one.attempt = 2;
    EXPECT_TRUE(run_training(one, second).final_values.empty());
}

TEST_F(Run, resumed_after_it_stopped_early_it_says_so_with_its_values) {
    AttemptPlan one = plan();
    one.spec.train.early_stopping = EarlyStoppingSpec{.patience = 1, .min_delta = 10};
    KeepingReporter first, second;
    const TrainOutcome lost = run_training(one, first);
    ASSERT_LT(lost.step, 24);
    one.resume_from = newest_checkpoint(one.checkpoint_folder);
    one.attempt = 2;
    const TrainOutcome found = run_training(one, second);
    EXPECT_FALSE(found.stopped_early.empty());
    EXPECT_EQ(found.stopped_early, lost.stopped_early);
    EXPECT_EQ(found.final_values, lost.final_values);
    EXPECT_EQ(found.step, lost.step);
}

TEST_F(Run, counted_in_steps_it_ends_there) {
    AttemptPlan one = plan();
    one.spec.train.epochs.reset();
    one.spec.train.steps = 8;
    KeepingReporter reporter;
    EXPECT_EQ(run_training(one, reporter).step, 8);
    EXPECT_EQ(reporter.values_of("val_loss").size(), 2U);    // after the epoch and at the end
}

struct BadPlan {
    const char* reason;
    void (*spoil)(AttemptPlan&);
};

TEST_F(Run, what_cannot_be_trained_fails_with_its_reason) {
    const std::vector<BadPlan> cases{
        {"spec_error", [](AttemptPlan& p) { p.spec.model.num_classes = 1; }},
        {"spec_error", [](AttemptPlan& p) { p.spec.model.arch = Arch::lenet; }},
        {"data_error", [](AttemptPlan& p) { p.spec.data.split.group_by = "family"; }},
        {"spec_error", [](AttemptPlan& p) { p.spec.train.batch_size_per_core = 1000; }},
        {"nan_loss",
         [](AttemptPlan& p) { p.spec.train.optimizer = {.name = OptimizerName::sgd, .lr = 1e30}; }},
        {"data_error", [](AttemptPlan& p) { p.dataset_path = "/nowhere"; }},
        {"checkpoint_corrupt", [](AttemptPlan& p) { p.resume_from = "/nowhere"; }},
        {"out_of_memory", [](AttemptPlan& p) { p.memory_bytes_max = 100; }},
    };
    for (const BadPlan& bad : cases) {
        AttemptPlan one = plan();
        bad.spoil(one);
        KeepingReporter reporter;
        try {
            run_training(one, reporter);
            ADD_FAILURE() << bad.reason << " was not thrown";
        } catch (const TrainError& error) {
            EXPECT_EQ(error.reason(), bad.reason) << error.what();
        }
    }
}

}    // namespace
}    // namespace slipway
