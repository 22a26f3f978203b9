// Goal: what a sweep may still need of its trials is kept, and nothing else.
#include <gmock/gmock.h>

#include "scheduler/sweeps/passed_by.h"
#include "tests/scheduler/sweeps/samples.h"

namespace slipway::sweeps {

namespace {

/// Trials that have begun, and whose newest job is "job N".
void begin(SweepRun& run, StepLog& log, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        take(run, log, search::AskEvent{});
    for (std::size_t i = 0; i < run.jobs.size(); ++i)
        run.jobs[i].job_id = "job " + std::to_string(i);
}

/// What a job has saved after an epoch, and measured there.
store::IdleCheckpoint saved_by(const std::string& job_id, const std::string& key,
                               std::int64_t epoch = 0, double value = 0) {
    return {
        .id = "checkpoint",
        .job_id = job_id,
        .key = key,
        .saved = {
            .step = 10 * epoch, .epoch = epoch, .metric_name = "val_loss", .metric_value = value}};
}

bool passed_job(const SweepRun& run, const std::string& job_id, const std::string& key) {
    return is_passed_by(run, saved_by(job_id, key));
}

bool passed(const SweepRun& run, std::int64_t trial, std::int64_t until = 0) {
    return passed_job(run, "job " + std::to_string(trial), key_of(trial, until));
}

TEST(PassedBy, only_the_best_of_those_that_have_ended_stays) {
    SweepRun run = new_run();
    StepLog log;
    begin(run, log, 4);
    for (std::int64_t trial = 0; trial < 3; ++trial) {
        take(run, log, search::ReportEvent{trial, 3, trial == 1 ? 0.1 : 0.5});
        take(run, log, search::EndEvent{trial, trial == 2});
    }
    EXPECT_TRUE(passed(run, 0));
    EXPECT_FALSE(passed(run, 1)) << "the best";
    EXPECT_TRUE(passed_job(run, "job before", key_of(1, 0))) << "an earlier job of the best";
    EXPECT_FALSE(passed(run, 2)) << "it can be tried again";
    EXPECT_FALSE(passed(run, 3)) << "it runs";
    take(run, log, search::ReportEvent{3, 3, 0.01});
    take(run, log, search::EndEvent{3, false});
    EXPECT_TRUE(passed(run, 1)) << "another one is better";
}

TEST(PassedBy, who_may_be_promoted_keeps_its_checkpoints_until_the_sweep_has_ended) {
    SweepRun run =
        new_run({{"algorithm", {{"name", "asha"}, {"mode", "promote"}, {"max_time", 9}}}});
    StepLog log;
    begin(run, log, 2);
    take(run, log, search::ReportEvent{0, 1, 0.1});
    take(run, log, search::ReportEvent{1, 1, 0.5});
    ASSERT_EQ(run.search.trials()[1].state, search::TrialState::paused);
    EXPECT_FALSE(passed(run, 1, 1));
    run.sweep.state = SweepState::finished;
    EXPECT_TRUE(passed(run, 1, 1));
    EXPECT_FALSE(passed(run, 0, 1)) << "the best";
}

TEST(PassedBy, pbt_needs_the_weights_of_its_newest_generation) {
    SweepRun run = new_run({{"algorithm", {{"name", "pbt"}, {"population", 4}, {"max_time", 3}}},
                            {"limits", {{"max_trials", 4}, {"max_concurrent", 4}}}});
    StepLog log;
    begin(run, log, 4);
    EXPECT_FALSE(passed(run, 0, 1));
    for (std::int64_t trial = 0; trial < 4; ++trial)
        take(run, log, search::ReportEvent{trial, 1, 0.1 * double(trial + 1)});
    for (std::int64_t trial = 0; trial < 4; ++trial)
        EXPECT_FALSE(passed(run, trial, 1)) << "others may take over its weights";
    for (int i = 0; i < 4; ++i)
        take(run, log, search::AskEvent{});
    for (std::int64_t trial = 0; trial < 4; ++trial)
        take(run, log, search::ReportEvent{trial, 2, 0.1 * double(trial + 1)});
    EXPECT_TRUE(passed_job(run, "job before", key_of(3, 1))) << "of the generation before";
    EXPECT_FALSE(passed(run, 3, 2));
}

TEST(PassedBy, every_fold_of_the_best_stays) {
    SweepRun run = new_fold_run({{"limits", {{"max_trials", 2}, {"max_concurrent", 2}}}});
    StepLog log;
    begin(run, log, 2);
    for (std::int64_t trial = 0; trial < 2; ++trial)
        for (std::int64_t fold = 1; fold <= 3; ++fold)
            take(run, log, search::ReportEvent{trial, fold, 0.1 * double(trial + 1)});
    for (std::int64_t fold = 0; fold < 3; ++fold) {
        EXPECT_FALSE(passed_job(run, "job of a fold", key_of_fold(0, fold)));
        EXPECT_TRUE(passed_job(run, "job of a fold", key_of_fold(1, fold)));
    }
}

TEST(PassedBy, a_key_that_is_none_of_ours_is_left_alone) {
    const SweepRun run = new_run();
    for (const char* key : {"", "refit", "7", "-1", "99999999999999999999"})
        EXPECT_FALSE(passed_job(run, "job 0", key)) << key;
}

// The best value is of epoch 4, which the second of three jobs trained.
TEST(PassedBy, the_weights_with_the_value_of_the_best_stay_in_whichever_job) {
    SweepRun run = new_run();
    StepLog log;
    begin(run, log, 2);
    const std::vector<double> curve{0.9, 0.8, 0.7, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    for (std::size_t i = 0; i < curve.size(); ++i)
        take(run, log, search::ReportEvent{0, std::int64_t(i) + 1, curve[i]});
    take(run, log, search::EndEvent{0, false});
    run.sweep.state = SweepState::finished;
    EXPECT_FALSE(is_passed_by(run, saved_by("earlier", "0@6", 4, 0.1)));
    EXPECT_TRUE(is_passed_by(run, saved_by("earlier", "0@6", 6, 0.3)));
    EXPECT_TRUE(is_passed_by(run, saved_by("earliest", "0@3", 3, 0.7)));
    EXPECT_FALSE(is_passed_by(run, saved_by("job 0", "0@9", 9, 0.6))) << "the newest job";
    EXPECT_TRUE(is_passed_by(run, saved_by("job 1", "1@1", 4, 0.1))) << "of another trial";
    const auto report = [&](const char* id, const char* key) {
        return is_passed_by(run, store::EndedTrialJob{.id = id, .key = key});
    };
    EXPECT_FALSE(report("earlier", "0@6"));
    EXPECT_TRUE(report("earliest", "0@3"));
    EXPECT_FALSE(report("job 0", "0@9"));
}

TEST(PassedBy, the_best_of_those_that_have_ended_stays_while_a_last_value_may_become_worse) {
    const auto run_of = [](const char* value) {
        SweepRun run = new_run({{"objective", {{"value", value}}}});
        StepLog log;
        begin(run, log, 3);
        for (std::int64_t trial = 0; trial < 2; ++trial) {
            take(run, log, search::ReportEvent{trial, 3, 0.5 + 0.1 * double(trial)});
            take(run, log, search::EndEvent{trial, false});
        }
        take(run, log, search::ReportEvent{2, 1, 0.1});
        return run;
    };
    SweepRun last = run_of("last");
    ASSERT_EQ(last.search.best_trial(), 2);
    EXPECT_FALSE(passed(last, 0));
    EXPECT_TRUE(passed(last, 1));
    StepLog log;
    take(last, log, search::ReportEvent{2, 2, 0.9});
    EXPECT_EQ(last.search.best_trial(), 0);
    EXPECT_TRUE(passed(run_of("best"), 0)) << "a best value does not become worse";
}

}    // namespace

}    // namespace slipway::sweeps
