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

bool passed(const SweepRun& run, std::int64_t trial, std::int64_t until = 0) {
    return is_passed_by(run, "job " + std::to_string(trial), key_of(trial, until));
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
    EXPECT_TRUE(is_passed_by(run, "job before", key_of(1, 0))) << "an earlier job of the best";
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
    EXPECT_TRUE(is_passed_by(run, "job before", key_of(3, 1))) << "of the generation before";
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
        EXPECT_FALSE(is_passed_by(run, "job of a fold", key_of_fold(0, fold)));
        EXPECT_TRUE(is_passed_by(run, "job of a fold", key_of_fold(1, fold)));
    }
}

TEST(PassedBy, a_key_that_is_none_of_ours_is_left_alone) {
    const SweepRun run = new_run();
    for (const char* key : {"", "refit", "7", "-1", "99999999999999999999"})
        EXPECT_FALSE(is_passed_by(run, "job 0", key)) << key;
}

}    // namespace

}    // namespace slipway::sweeps
