// Goal: a trial whose worker is gone is handed out again, and one that kills its workers ends.
#include "scheduler/sweeps/leases.h"

#include "tests/scheduler/sweeps/samples.h"

namespace slipway::sweeps {
namespace {

using search::TrialState;

constexpr Instant start{std::chrono::hours{1}};

SweepRun run_elsewhere(int trials) {
    SweepRun run = new_run({{"job", nullptr},
                            {"space",
                             {{"train.optimizer.lr", nullptr},
                              {"x", {{"type", "uniform"}, {"min", 0}, {"max", 1}}}}}});
    run.sweep.external = true;
    StepLog log;
    for (int i = 0; i < trials; ++i)
        take(run, log, search::AskEvent{});
    return run;
}

Instant after(double seconds) {
    return start +
           std::chrono::duration_cast<Instant::duration>(std::chrono::duration<double>(seconds));
}

TEST(Leases, a_trial_without_lease_waits_without_end) {
    SweepRun run = run_elsewhere(2);
    StepLog log;
    expire_leases(run, log, after(1e9));
    EXPECT_TRUE(log.events.empty());
    EXPECT_TRUE(free_trials(run).empty());
}

TEST(Leases, a_silent_worker_loses_its_trial_and_a_report_renews) {
    SweepRun run = run_elsewhere(2);
    StepLog log;
    hand_out(run, log, 0, 60, start);
    hand_out(run, log, 1, 60, start);
    note_report(run.leases, 1, after(50));
    expire_leases(run, log, after(60));
    EXPECT_TRUE(free_trials(run).empty());
    expire_leases(run, log, after(61));
    EXPECT_EQ(free_trials(run), (std::vector<std::int64_t>{0}));
    hand_out(run, log, 0, 0, after(62));
    expire_leases(run, log, after(1e9));
    EXPECT_EQ(free_trials(run), (std::vector<std::int64_t>{1}));
    EXPECT_EQ(run.search.trials()[0].state, TrialState::running);
}

TEST(Leases, a_trial_whose_workers_all_go_silent_has_failed) {
    SweepRun run = run_elsewhere(1);
    StepLog log;
    double now = 0;
    for (int i = 0; i < expired_max; ++i) {
        EXPECT_EQ(run.search.trials()[0].state, TrialState::running);
        hand_out(run, log, 0, 60, after(now));
        now += 61;
        expire_leases(run, log, after(now));
    }
    EXPECT_EQ(run.search.trials()[0].state, TrialState::failed);
    EXPECT_EQ(run.jobs[0].reason, "its lease of 60 s has expired 3 times");
    EXPECT_TRUE(run.leases.empty());
}

TEST(Leases, a_retried_trial_is_free) {
    SweepRun run = run_elsewhere(1);
    StepLog log;
    take(run, log, search::EndEvent{.trial = 0, .failed = true});
    take(run, log, search::RetryEvent{.trial = 0});
    EXPECT_EQ(free_trials(run), (std::vector<std::int64_t>{0}));
    take(run, log, search::ReportEvent{.trial = 0, .time = 1, .value = 1});
    take(run, log, search::EndEvent{.trial = 0, .failed = false});
    EXPECT_TRUE(free_trials(run).empty());
}

TEST(Leases, lines_of_the_log_say_the_same) {
    for (const LeaseEvent& event :
         {LeaseEvent{.trial = 3, .lease_s = 1.5}, LeaseEvent{.trial = 4, .is_free = true},
          LeaseEvent{.trial = 5}}) {
        const auto read = std::get<LeaseEvent>(decode_event(encode(LoggedEvent{.event = event})));
        EXPECT_EQ(read.trial, event.trial);
        EXPECT_EQ(read.lease_s, event.lease_s);
        EXPECT_EQ(read.is_free, event.is_free);
    }
}

}    // namespace
}    // namespace slipway::sweeps
