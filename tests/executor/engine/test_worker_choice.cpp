// Goal: the number of workers that is as fast as any, at little cost.
// Method: a machine that is described by how long a step takes with each number of workers; no
// clock and no threads.
#include "executor/engine/worker_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace slipway {
namespace {

/// A step's work, shared by the workers, and what they wait for each other.
struct Machine {
    double work_s = 1e-3;
    double waiting_s = 1e-4;    ///< of a step with several workers

    TimedRun run(int workers) const {
        const double waiting = workers == 1 ? 0 : waiting_s;
        return {.seconds = work_s / workers + waiting, .working_s = work_s};
    }
};

/// Seconds of so many runs.
double run(WorkerChoice& choice, const Machine& machine, int runs) {
    double seconds = 0;
    for (int i = 0; i < runs; ++i) {
        const TimedRun one = machine.run(choice.workers());
        seconds += one.seconds;
        choice.ran(one);
    }
    return seconds;
}

TEST(WorkerChoice, is_all_where_they_share_the_work_well) {
    WorkerChoice choice(4);
    run(choice, {.work_s = 4e-3, .waiting_s = 1e-4}, 5000);
    EXPECT_EQ(choice.chosen(), 4);
    EXPECT_EQ(choice.changes(), 0) << choice.why();
    EXPECT_TRUE(choice.is_settled());
}

TEST(WorkerChoice, is_one_where_waiting_takes_more_than_is_shared) {
    WorkerChoice choice(2);
    run(choice, {.work_s = 4e-4, .waiting_s = 5e-4}, 300);
    EXPECT_EQ(choice.chosen(), 1);
    EXPECT_TRUE(choice.is_settled());
    EXPECT_EQ(choice.why(), "1 of 2 worker threads: a step takes 0.4 ms with 1 and 0.7 ms with 2");
}

TEST(WorkerChoice, is_between_all_and_one_where_that_is_best) {
    WorkerChoice choice(8);
    run(choice, {.work_s = 4e-4, .waiting_s = 5e-4}, 2000);
    EXPECT_EQ(choice.chosen(), 1);
    WorkerChoice of_more_work(8);
    const std::map<int, double> waiting_s{{8, 9e-4}, {4, 5e-4}, {2, 1e-4}, {1, 0.0}};
    for (int i = 0; i < 2000; ++i) {
        const int workers = of_more_work.workers();
        of_more_work.ran({.seconds = 1e-3 / workers + waiting_s.at(workers), .working_s = 1e-3});
    }
    EXPECT_EQ(of_more_work.chosen(), 2) << of_more_work.why();
}

TEST(WorkerChoice, is_never_slower_than_the_best_by_more_than_a_twentieth) {
    for (const double work_s : {1e-4, 3e-4, 1e-3, 1e-2, 0.3})
        for (const double waiting_s : {0.0, 2e-5, 1e-4, 4e-4, 2e-3, 0.2}) {
            const Machine machine{work_s, waiting_s};
            WorkerChoice choice(2);
            run(choice, machine, 400);
            const double best = std::min(machine.run(1).seconds, machine.run(2).seconds);
            EXPECT_LE(machine.run(choice.chosen()).seconds, 1.05 * best)
                << work_s << " of work, " << waiting_s << " of waiting";
        }
}

TEST(WorkerChoice, compares_nothing_before_the_runs_took_as_long_as_a_program_to_make) {
    WorkerChoice choice(2);
    choice.made_program(1.0);
    const Machine machine{.work_s = 4e-4, .waiting_s = 6e-4};
    run(choice, machine, 1200);    // 0.96 s
    EXPECT_EQ(choice.workers(), 2);
    EXPECT_FALSE(choice.is_settled());
    run(choice, machine, 300);
    EXPECT_EQ(choice.chosen(), 1);
}

TEST(WorkerChoice, takes_more_again_when_the_machine_is_another) {
    WorkerChoice choice(2);
    run(choice, {.work_s = 4e-4, .waiting_s = 6e-4}, 1000);
    ASSERT_EQ(choice.chosen(), 1);
    // Another phase of the network, or another process is gone: more work in each step.
    run(choice, {.work_s = 2e-3, .waiting_s = 1e-4}, 3000);
    EXPECT_EQ(choice.chosen(), 2) << choice.why();
    run(choice, {.work_s = 2e-3, .waiting_s = 8e-3}, 3000);
    EXPECT_EQ(choice.chosen(), 1) << choice.why();
}

TEST(WorkerChoice, finds_out_that_waiting_has_become_short) {
    WorkerChoice choice(2);
    run(choice, {.work_s = 4e-4, .waiting_s = 6e-4}, 1000);
    ASSERT_EQ(choice.chosen(), 1);
    run(choice, {.work_s = 4e-4, .waiting_s = 1e-5}, 40000);    // 16 s: a step with one is the same
    EXPECT_EQ(choice.chosen(), 2) << choice.why();
}

TEST(WorkerChoice, costs_little) {
    const Machine machine{.work_s = 4e-4, .waiting_s = 6e-4};
    WorkerChoice choice(2);
    run(choice, machine, 500);
    ASSERT_EQ(choice.chosen(), 1);
    const int runs = 500'000;    // 200 s
    EXPECT_LE(run(choice, machine, runs), 1.01 * machine.run(1).seconds * runs);
    const Machine slow{.work_s = 1, .waiting_s = 0.45};
    WorkerChoice of_slow(2);
    EXPECT_LE(run(of_slow, slow, 200), 1.03 * slow.run(2).seconds * 200);
}

// Goal: what one run in five waits for, such as another program, does not decide.
TEST(WorkerChoice, looks_at_medians) {
    WorkerChoice choice(2);
    for (int i = 0; i < 2000; ++i) {
        TimedRun one = Machine{.work_s = 1e-3, .waiting_s = 5e-5}.run(choice.workers());
        if (i % 5 == 0) one.seconds += 5e-3;
        choice.ran(one);
    }
    EXPECT_EQ(choice.chosen(), 2) << choice.why();
}

TEST(WorkerChoice, stays_where_fewer_would_take_too_much_memory) {
    WorkerChoice choice(2);
    const Machine machine{.work_s = 4e-4, .waiting_s = 5e-4};
    for (int i = 0; i < 2000; ++i) {
        if (choice.workers() == 1) choice.cannot_run(1);
        ASSERT_EQ(choice.workers(), 2);
        choice.ran(machine.run(choice.workers()));
    }
    EXPECT_EQ(choice.chosen(), 2);
    EXPECT_TRUE(choice.is_settled());
}

TEST(WorkerChoice, is_one_where_the_system_refuses_threads) {
    WorkerChoice choice(2);
    const Machine machine{.work_s = 4e-3, .waiting_s = 1e-5};
    run(choice, machine, 100);
    choice.cannot_start(2);
    EXPECT_EQ(choice.workers(), 1);
    run(choice, machine, 10'000);
    EXPECT_EQ(choice.workers(), 1);
    EXPECT_EQ(choice.why(), "1 of 2 worker threads: the system refuses a further thread");
}

// Goal: what was chosen for a small program does not stay when a larger one decides.
TEST(WorkerChoice, is_all_again_where_the_next_program_takes_too_much_memory) {
    WorkerChoice choice(2);
    run(choice, {.work_s = 4e-4, .waiting_s = 5e-4}, 500);
    ASSERT_EQ(choice.chosen(), 1);
    choice.restart();
    choice.cannot_run(1);
    EXPECT_EQ(choice.workers(), 2);
    EXPECT_EQ(choice.chosen(), 2);
}

TEST(WorkerChoice, has_no_choice_of_one) {
    WorkerChoice choice(1);
    run(choice, {}, 100);
    EXPECT_EQ(choice.workers(), 1);
    EXPECT_TRUE(choice.is_settled());
    EXPECT_EQ(choice.why(), "");
}

}    // namespace
}    // namespace slipway
