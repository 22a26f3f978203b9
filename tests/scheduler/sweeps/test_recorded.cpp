// Goal: what recorded trials say: which parameter matters, and what another algorithm would have
// made of them.
#include <gmock/gmock.h>

#include "scheduler/sweeps/importance.h"
#include "scheduler/sweeps/simulation.h"
#include "tests/scheduler/sweeps/samples.h"

namespace slipway::sweeps {

namespace {

/// 27 trials of 9 epochs whose losses depend on the learning rate alone, and fall by a tenth in
/// each epoch.
SweepRun recorded_run() {
    SweepRun run =
        new_run({{"space", {{"model.width", {{"type", "choice"}, {"values", {8, 16, 32}}}}}},
                 {"limits", {{"max_trials", 27}, {"max_concurrent", 27}}}});
    StepLog log;
    for (std::int64_t trial = 0; trial < 27; ++trial) {
        take(run, log, search::AskEvent{});
        const double lr = run.search.trials().back().point.at("train.optimizer.lr").get<double>();
        for (std::int64_t time = 1; time <= 9; ++time)
            take(run, log, search::ReportEvent{trial, time, lr + 1.0 / double(time)});
        take(run, log, search::EndEvent{trial, false});
    }
    return run;
}

AlgorithmSpec algorithm(const Json& json) {
    return decode_algorithm(json).value;
}

Importances importance_in(const SweepRun& run) {
    return importance_of(importance_inputs(run.search));
}

TEST(Recorded, the_parameter_that_matters_explains_the_differences) {
    const Importances found = importance_in(recorded_run());
    ASSERT_EQ(found.parameters.size(), 2U);
    EXPECT_EQ(found.trials, 27U);
    EXPECT_EQ(found.parameters[0].path, "train.optimizer.lr");
    EXPECT_GT(found.parameters[0].explained, 0.9);
    EXPECT_LT(found.parameters[1].explained, 0.1);
}

TEST(Recorded, too_few_trials_say_nothing) {
    SweepRun run = new_run();
    EXPECT_TRUE(importance_in(run).parameters.empty());
}

TEST(Recorded, the_same_algorithm_gives_what_was_recorded) {
    const SweepRun run = recorded_run();
    const SweepSimulation done = simulate(recorded_sweep(run), algorithm({{"name", "random"}}), 4);
    EXPECT_EQ(done.trials, 27);
    EXPECT_EQ(done.time_used, 27 * 9);
    EXPECT_EQ(done.time_recorded, 27 * 9);
    EXPECT_EQ(done.regret, 0);
    EXPECT_EQ(done.best, best_of(run));
    EXPECT_EQ(done.cut_short, 0);
}

// Goal: where curves do not cross, halving finds the best trial, and what it trains is known.
TEST(Recorded, halving_finds_the_best_trial_for_less) {
    const SweepRun run = recorded_run();
    const SweepSimulation stops = simulate(
        recorded_sweep(run), algorithm({{"name", "asha"}, {"mode", "stop"}, {"max_time", 9}}), 4);
    EXPECT_EQ(stops.regret, 0);
    EXPECT_LT(stops.time_used, 27 * 9 / 2);
    const SweepSimulation halves =
        simulate(recorded_sweep(run), algorithm({{"name", "hyperband"}, {"max_time", 9}}), 27);
    EXPECT_GT(halves.trials, 9);
    EXPECT_LT(halves.time_used, 27 * 9);
}

TEST(Recorded, curves_that_end_early_are_counted) {
    SweepRun run = new_run({{"limits", {{"max_trials", 3}, {"max_concurrent", 3}}}});
    StepLog log;
    for (std::int64_t trial = 0; trial < 3; ++trial) {
        take(run, log, search::AskEvent{});
        take(run, log, search::ReportEvent{trial, 1, 0.5});
        if (trial == 0) take(run, log, search::EndEvent{trial, true});
    }
    const SweepSimulation done = simulate(recorded_sweep(run), algorithm({{"name", "random"}}), 1);
    EXPECT_EQ(done.cut_short, 3);
    EXPECT_THROW(simulate(recorded_sweep(run), algorithm({{"name", "pbt"}, {"max_time", 9}}), 1),
                 Error);
}

}    // namespace

}    // namespace slipway::sweeps
