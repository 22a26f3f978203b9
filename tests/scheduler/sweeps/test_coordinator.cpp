// Goal: what is seen of the jobs of a sweep leads to the right jobs, ends and reasons, whenever it
// is looked at and however often.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/scheduler/sweeps/samples.h"

namespace slipway::sweeps {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::int64_t> wanted(const CoordinatorStep& step) {
    std::vector<std::int64_t> trials;
    for (const WantedJob& job : step.jobs)
        trials.push_back(job.trial);
    return trials;
}

ObservedJob runs(std::int64_t trial, std::vector<Measured> values = {}) {
    return {.trial = trial, .state = JobState::running, .values = std::move(values)};
}

ObservedJob ended(std::int64_t trial, JobState state, std::vector<Measured> values = {}) {
    return {.trial = trial, .state = state, .values = std::move(values)};
}

std::string state_of(const SweepRun& run, std::size_t trial) {
    return std::string(to_string(run.search.trials()[trial].state));
}

TEST(Coordinator, fills_the_slots_and_ends_when_all_have_ended) {
    SweepRun run = new_run();
    EXPECT_THAT(wanted(advance(run, {})), ElementsAre(0, 1));
    EXPECT_TRUE(advance(run, {.jobs = {runs(0), runs(1)}}).is_empty());
    const auto step =
        advance(run, {.jobs = {ended(0, JobState::succeeded, {{1, 0.5}, {2, 0.4}}), runs(1)}});
    EXPECT_THAT(wanted(step), ElementsAre(2));
    advance(run, {.jobs = {ended(1, JobState::succeeded, {{1, 0.3}}), runs(2)}});
    const auto last = advance(run, {.jobs = {ended(2, JobState::succeeded, {{1, 0.9}}),
                                             ended(3, JobState::succeeded, {{1, 0.8}})}});
    EXPECT_EQ(last.state, SweepState::finished);
    EXPECT_EQ(run.sweep.reason->code, "search_over");
    EXPECT_EQ(best_of(run), (store::BestTrial{.trial = 1, .value = 0.3}));
    EXPECT_EQ(count_trials(run).completed, 4);
}

TEST(Coordinator, looking_again_adds_nothing_to_the_log) {
    SweepRun run = new_run({{"limits", {{"max_trials", 1}}}});
    advance(run, {});
    const Observation seen{.jobs = {runs(0, {{1, 0.5}})}};
    EXPECT_THAT(advance(run, seen).log.events, SizeIs(2)) << "the value, and a question";
    for (int again = 0; again < 3; ++again)
        EXPECT_TRUE(advance(run, seen).is_empty());
}

TEST(Coordinator, a_value_at_a_rung_waits_for_the_checkpoint) {
    SweepRun run = new_run({{"algorithm", {{"name", "asha"}, {"mode", "promote"}, {"max_time", 9}}},
                            {"limits", {{"max_concurrent", 1}}}});
    EXPECT_EQ(advance(run, {}).jobs.at(0).until, 1);
    EXPECT_THAT(advance(run, {.jobs = {runs(0, {{1, 0.5}})}}).log.events, IsEmpty());
    const auto step = advance(run, {.jobs = {ended(0, JobState::succeeded, {{1, 0.5}})}});
    EXPECT_EQ(state_of(run, 0), "paused");
    EXPECT_THAT(wanted(step), ElementsAre(1));
}

TEST(Coordinator, a_promoted_trial_goes_on_from_its_own_rung) {
    SweepRun run = new_run({{"algorithm", {{"name", "asha"}, {"mode", "promote"}, {"max_time", 9}}},
                            {"limits", {{"max_concurrent", 1}, {"max_trials", 3}}}});
    advance(run, {});
    for (std::int64_t trial = 0; trial < 2; ++trial)
        advance(run,
                {.jobs = {ended(trial, JobState::succeeded, {{1, 0.5 - 0.1 * double(trial)}})}});
    const auto step = advance(run, {.jobs = {ended(2, JobState::succeeded, {{1, 0.9}})}});
    ASSERT_THAT(wanted(step), ElementsAre(1));
    EXPECT_EQ(step.jobs[0].until, 3);
    ASSERT_TRUE(step.jobs[0].from.has_value());
    EXPECT_EQ(step.jobs[0].from->trial, 1);
    EXPECT_EQ(step.jobs[0].from->time, 1);
    EXPECT_EQ(key_of(1, 3), "1@3");
}

TEST(Coordinator, a_stopped_trial_ends_its_job_and_frees_its_slot_when_that_has_ended) {
    SweepRun run = new_run({{"algorithm", {{"name", "asha"}, {"mode", "stop"}, {"max_time", 9}}},
                            {"limits", {{"max_concurrent", 1}}}});
    advance(run, {});
    advance(run, {.jobs = {ended(0, JobState::succeeded, {{1, 0.1}, {3, 0.1}, {9, 0.1}})}});
    const auto step = advance(run, {.jobs = {runs(1, {{1, 0.7}})}});
    ASSERT_THAT(step.ends, SizeIs(1));
    EXPECT_EQ(step.ends.at(1).code, "stopped_by_sweep");
    EXPECT_THAT(step.ends.at(1).message, HasSubstr("rank 2 of 2"));
    EXPECT_TRUE(advance(run, {.jobs = {runs(1, {{1, 0.7}, {2, 0.1}})}}).is_empty());
    EXPECT_THAT(wanted(advance(run, {.jobs = {ended(1, JobState::cancelled)}})), ElementsAre(2));
    EXPECT_EQ(state_of(run, 1), "stopped");
}

TEST(Coordinator, a_failed_job_says_why_and_can_be_tried_again) {
    SweepRun run = new_run({{"limits", {{"max_concurrent", 1}}}});
    advance(run, {});
    ObservedJob failed = ended(0, JobState::failed);
    failed.reason = store::Reason{"nan_loss", "the loss is nan"};
    EXPECT_THAT(wanted(advance(run, {.jobs = {failed}})), ElementsAre(1));
    EXPECT_EQ(state_of(run, 0), "failed");
    EXPECT_EQ(run.jobs[0].reason, "its job is failed: nan_loss: the loss is nan");
    StepLog log;
    take(run, log, search::RetryEvent{0}, "a user tries it again");
    EXPECT_EQ(state_of(run, 0), "running");
    EXPECT_EQ(run.jobs[0].reason, "a user tries it again");
    ASSERT_THAT(log.events.at(0).decisions, SizeIs(1));
    EXPECT_EQ(log.events[0].decisions[0].action, search::Action::retry);
    EXPECT_EQ(log.events[0].decisions[0].reason, "it failed before its first value and is retried");
    const auto step = advance(run, {.jobs = {ended(1, JobState::succeeded, {{1, 0.2}})}});
    ASSERT_THAT(wanted(step), ElementsAre(0));
    EXPECT_TRUE(step.jobs[0].is_retry);
}

// Goal: a sweep that is read again from its log stands where it stood, retries included.
TEST(Coordinator, trials_that_are_tried_again_are_replayed) {
    SweepRun run = new_run({{"algorithm", {{"name", "tpe"}, {"startup_trials", 2}}},
                            {"limits", {{"max_trials", 6}, {"max_concurrent", 1}}}});
    std::vector<search::SearchEvent> events;
    const auto keep = [&](const StepLog& log) {
        for (const LoggedEvent& one : log.events)
            events.push_back(std::get<search::SearchEvent>(decode_event(encode(one))));
    };
    keep(advance(run, {}).log);
    keep(advance(run, {.jobs = {ended(0, JobState::succeeded, {{1, 0.5}})}}).log);
    keep(advance(run, {.jobs = {ended(1, JobState::failed, {{1, 0.1}})}}).log);
    StepLog retry;
    take(run, retry, search::RetryEvent{1});
    EXPECT_EQ(retry.events.at(0).decisions.at(0).reason, "it failed after epoch 1 and is retried");
    keep(retry);
    keep(advance(run, {.jobs = {ended(2, JobState::succeeded, {{1, 0.4}})}}).log);
    keep(advance(run, {.jobs = {ended(1, JobState::succeeded, {{2, 0.2}})}}).log);
    const SweepRun again = new_run({{"algorithm", {{"name", "tpe"}, {"startup_trials", 2}}},
                                    {"limits", {{"max_trials", 6}, {"max_concurrent", 1}}}});
    const search::Search replayed =
        search::replayed(search::Space(again.search.space()), again.search.plan(), events);
    ASSERT_EQ(replayed.trials().size(), run.search.trials().size());
    for (std::size_t i = 0; i < run.search.trials().size(); ++i) {
        EXPECT_EQ(replayed.trials()[i].point, run.search.trials()[i].point);
        EXPECT_EQ(replayed.trials()[i].state, run.search.trials()[i].state);
    }
    EXPECT_EQ(state_of(run, 1), "completed");
}

TEST(Coordinator, a_limit_that_would_end_the_sweep_again_is_named) {
    SweepRun run =
        new_run({{"limits", {{"max_trials", 4}, {"max_failures", 2}, {"max_wall_s", 60}}}});
    advance(run, {});
    advance(run, {.jobs = {ended(0, JobState::failed), ended(1, JobState::failed)}});
    EXPECT_EQ(run.sweep.state, SweepState::failed);
    EXPECT_EQ(limit_reached(run, {}).value().code, "too_many_failures");
    StepLog log;
    take(run, log, search::RetryEvent{1});
    EXPECT_FALSE(limit_reached(run, {})) << "one of two is left";
    EXPECT_EQ(limit_reached(run, {.age_s = 61}).value().code, "max_wall_s");
    EXPECT_EQ(limit_reached(run, {.owner_is_lost = true}).value().code, "owner_lost");
}

TEST(Coordinator, a_deleted_job_is_a_failed_trial) {
    SweepRun run = new_run();
    advance(run, {});
    advance(run, {.jobs = {{.trial = 0}, runs(1)}});
    EXPECT_EQ(state_of(run, 0), "failed");
    EXPECT_EQ(run.jobs[0].reason, "its job was deleted");
}

TEST(Coordinator, a_job_that_cannot_be_made_fails_its_trial) {
    SweepRun run = new_run();
    CoordinatorStep step = advance(run, {});
    fail_trial(run, step, 0, "there is no dataset points");
    EXPECT_THAT(wanted(step), ElementsAre(1));
    EXPECT_EQ(state_of(run, 0), "failed");
    EXPECT_THAT(run.jobs[0].reason, HasSubstr("there is no dataset points"));
    EXPECT_EQ(trial_row(run, 0).jobs, 0);
}

// Goal: a sweep in which nothing works ends, and says so.
TEST(Coordinator, trials_that_all_fail_end_the_sweep) {
    SweepRun run = new_run({{"limits", {{"max_trials", 1000}, {"max_concurrent", 1}}}});
    advance(run, {});
    for (std::int64_t trial = 0; trial < 10; ++trial) {
        EXPECT_EQ(run.sweep.state, SweepState::running);
        advance(run, {.jobs = {ended(trial, JobState::failed)}});
    }
    EXPECT_EQ(run.sweep.state, SweepState::failed);
    EXPECT_EQ(run.sweep.reason->code, "too_many_failures");
}

TEST(Coordinator, values_that_are_no_numbers_are_no_result) {
    SweepRun run = new_run({{"limits", {{"max_trials", 1}}}});
    advance(run, {});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    advance(run, {.jobs = {ended(0, JobState::succeeded, {{1, nan}})}});
    EXPECT_EQ(run.sweep.state, SweepState::failed);
    EXPECT_EQ(run.sweep.reason->code, "no_result");
    EXPECT_FALSE(trial_row(run, 0).value.has_value());
}

struct LimitCase {
    const char* code;
    Json limits;
    Observation seen;
};

TEST(Coordinator, each_limit_ends_all_jobs_and_then_the_sweep) {
    const std::vector<LimitCase> cases{
        {"target", {{"target", 0.5}}, {.jobs = {runs(0, {{1, 0.5}}), runs(1)}}},
        {"max_core_s", {{"max_core_s", 10}}, {.jobs = {runs(0), runs(1)}, .core_s = 10}},
        {"max_wall_s", {{"max_wall_s", 10}}, {.jobs = {runs(0), runs(1)}, .age_s = 10.5}},
        {"owner_lost", Json::object(), {.jobs = {runs(0), runs(1)}, .owner_is_lost = true}}};
    for (const LimitCase& one : cases) {
        SweepRun run = new_run({{"limits", one.limits}});
        advance(run, {});
        const CoordinatorStep step = advance(run, one.seen);
        EXPECT_EQ(run.sweep.state, SweepState::stopping) << one.code;
        EXPECT_EQ(run.sweep.reason->code, one.code);
        EXPECT_THAT(step.ends, SizeIs(2)) << one.code;
        EXPECT_THAT(step.jobs, IsEmpty()) << one.code;
        advance(run, {.jobs = {ended(0, JobState::cancelled), ended(1, JobState::cancelled)}});
        EXPECT_TRUE(is_final(run.sweep.state)) << one.code;
    }
}

TEST(Coordinator, trials_without_progress_end_the_sweep) {
    SweepRun run =
        new_run({{"limits", {{"max_trials", 100}, {"max_concurrent", 1}, {"stall", 3}}}});
    advance(run, {});
    for (std::int64_t trial = 0; trial < 4; ++trial)
        advance(run, {.jobs = {ended(trial, JobState::succeeded, {{1, trial == 0 ? 0.1 : 0.2}})}});
    EXPECT_EQ(run.sweep.reason->code, "stall");
    EXPECT_EQ(run.sweep.state, SweepState::finished);
}

// Method: the log of a run, written and read, is replayed into a new one.
// Goal: a sweep whose points are hard to find takes small steps, and says so while it does.
// Method: one of 300 points satisfies the constraints, which have nearly 2,000 steps.
TEST(Coordinator, choosing_points_takes_no_longer_than_a_slice) {
    std::string sum = "train.optimizer.lr";
    while (sum.size() < 960)
        sum += "+train.optimizer.lr";
    Json constraints = Json::array({"train.optimizer.lr < 0.0001023"});
    for (int i = 0; i < 16; ++i)
        constraints.push_back(sum + " > 0");
    SweepRun run = new_run(
        {{"constraints", constraints}, {"limits", {{"max_trials", 100}, {"max_concurrent", 100}}}});
    const auto first = advance(run, {});
    EXPECT_TRUE(first.has_used_its_slice);
    EXPECT_GE(first.jobs.size(), 1U);
    EXPECT_LT(first.jobs.size(), 100U);
    EXPECT_EQ(first.state, SweepState::running);
    EXPECT_EQ(run.sweep.reason->code, "slow_search");
    bool is_slow = true;
    for (int steps = 0; is_slow && steps < 100; ++steps)
        is_slow = advance(run, {}).has_used_its_slice;
    EXPECT_EQ(run.search.trials().size(), 100U);
    EXPECT_FALSE(run.sweep.reason) << run.sweep.reason->code;
}

TEST(Coordinator, a_log_line_comes_back_as_it_was) {
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<search::SearchEvent> events{search::AskEvent{},
                                                  search::AskEvent{.unit = {0.1, 1.0 / 3}},
                                                  search::ReportEvent{3, 7, 0.1},
                                                  search::ReportEvent{3, 8, -infinity},
                                                  search::EndEvent{3, true},
                                                  search::ExtendEvent{9},
                                                  search::RetryEvent{3}};
    for (const search::SearchEvent& event : events) {
        const Json json = encode(LoggedEvent{.event = event, .detail = "why"});
        const auto back = std::get<search::SearchEvent>(decode_event(Json::parse(json.dump())));
        EXPECT_EQ(encode(LoggedEvent{.event = back, .detail = "why"}), json);
    }
    EXPECT_TRUE(std::holds_alternative<StateEvent>(
        decode_event(Json{{"type", "state"}, {"state", "paused"}, {"from", "running"}})));
    EXPECT_THROW(decode_event(Json{{"type", "other"}}), Error);
}

std::vector<std::int64_t> wanted_folds(const CoordinatorStep& step) {
    std::vector<std::int64_t> folds;
    for (const WantedJob& job : step.jobs)
        folds.push_back(job.fold.value());
    return folds;
}

TEST(Coordinator, a_cross_validation_trains_one_fold_after_the_other) {
    SweepRun run = new_fold_run({{"limits", {{"max_trials", 2}, {"max_concurrent", 2}}}});
    EXPECT_EQ(run.spec.objective.metric, "cv.val_loss.mean");
    EXPECT_EQ(measured_metric(run.spec), "val_loss");
    auto step = advance(run, {});
    EXPECT_THAT(wanted(step), ElementsAre(0, 1));
    EXPECT_THAT(wanted_folds(step), ElementsAre(0, 0));
    EXPECT_TRUE(advance(run, {.jobs = {runs(0), runs(1)}}).is_empty());
    step = advance(run, {.jobs = {ended(0, JobState::succeeded, {{1, 0.5}}), runs(1)}});
    EXPECT_THAT(wanted(step), ElementsAre(0));
    EXPECT_THAT(wanted_folds(step), ElementsAre(1));
    advance(run, {.jobs = {ended(0, JobState::succeeded, {{2, 0.3}}), runs(1)}});
    EXPECT_FALSE(best_of(run).has_value()) << "two folds of three";
    EXPECT_FALSE(trial_row(run, 0).value.has_value());
    EXPECT_EQ(trial_row(run, 0).fold_values, "[0.5,0.3]");
    step = advance(run, {.jobs = {ended(0, JobState::succeeded, {{3, 0.1}}), runs(1)}});
    EXPECT_EQ(state_of(run, 0), "completed");
    EXPECT_EQ(best_of(run)->trial, 0);
    EXPECT_NEAR(*trial_row(run, 0).value, 0.3, 1e-12);
    EXPECT_EQ(key_of_fold(3, 1), "3-fold-1");
}

TEST(Coordinator, a_fold_without_a_value_or_without_success_ends_its_trial) {
    SweepRun run = new_fold_run({{"limits", {{"max_trials", 2}, {"max_concurrent", 2}}}});
    advance(run, {});
    advance(run, {.jobs = {ended(0, JobState::succeeded), ended(1, JobState::failed)}});
    EXPECT_EQ(state_of(run, 0), "failed");
    EXPECT_THAT(run.jobs[0].reason, HasSubstr("has no value of val_loss"));
    EXPECT_EQ(state_of(run, 1), "failed");
    StepLog log;
    run.sweep.state = SweepState::running;
    take(run, log, search::RetryEvent{1});
    const auto step = advance(run, {});
    ASSERT_THAT(wanted(step), ElementsAre(1));
    EXPECT_THAT(wanted_folds(step), ElementsAre(0)) << "the fold that failed";
}

TEST(Coordinator, a_trial_that_falls_behind_gets_no_more_folds) {
    SweepRun run = new_fold_run({{"objective", {{"fold_pruning", Json::object()}}},
                                 {"limits", {{"max_trials", 2}, {"max_concurrent", 2}}}});
    advance(run, {});
    advance(run, {.jobs = {ended(0, JobState::succeeded, {{1, 0.1}}),
                           ended(1, JobState::succeeded, {{1, 0.5}})}});
    auto step = advance(run, {.jobs = {ended(0, JobState::succeeded, {{2, 0.2}}), runs(1)}});
    EXPECT_THAT(step.jobs, IsEmpty()) << "it waits for the other one";
    step = advance(run, {.jobs = {ended(1, JobState::succeeded, {{2, 0.61}})}});
    EXPECT_THAT(wanted(step), ElementsAre(0));
    EXPECT_THAT(wanted_folds(step), ElementsAre(2));
    EXPECT_EQ(state_of(run, 1), "stopped");
    EXPECT_THAT(run.jobs[1].reason, HasSubstr("2 of 3 folds: mean 0.555, that of trial 0"));
    step = advance(run, {.jobs = {ended(0, JobState::succeeded, {{3, 0.1}})}});
    EXPECT_EQ(step.state, SweepState::finished);
}

TEST(Coordinator, a_fold_is_a_job_on_the_split_of_all) {
    const SweepRun run = new_fold_run();
    const auto spec =
        fold_spec(run.spec, {{"train.optimizer.lr", 0.02}}, "dst_test", "spl_test", 2);
    ASSERT_TRUE(bool(spec));
    EXPECT_EQ(spec->at("data"),
              Json({{"dataset", "dst_test"}, {"split", {{"id", "spl_test"}, {"fold", 2}}}}));
    EXPECT_EQ(spec->at("train").at("optimizer").at("lr"), 0.02);
    EXPECT_EQ(encode_folds(decode_folds(encode_folds(run.folds))), encode_folds(run.folds));
    EXPECT_TRUE(decode_folds("").sizes.empty());
}

}    // namespace

}    // namespace slipway::sweeps
