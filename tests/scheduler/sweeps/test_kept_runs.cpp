// Goal: a kept run is what the log adds up to, whoever has written to it meanwhile, and what was
// not stored leaves nothing behind.
// Method: each borrowed run is compared with one that is read from the log.
#include "scheduler/sweeps/kept_runs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "scheduler/sweeps/coordinator.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::sweeps {
namespace {

constexpr const char* elsewhere_spec = R"({
    "name": "elsewhere", "objective": {"metric": "cost", "mode": "min"}, "seed": 1,
    "space": {"x": {"type": "uniform", "min": -1, "max": 1}, "y": {"type": "uniform", "min": -1, "max": 1}},
    "algorithm": {"name": "tpe", "startup_trials": 2},
    "limits": {"max_trials": 40, "max_concurrent": 8}})";

class KeptRunsTest : public store::StoreTest {
protected:
    std::string make() {
        return store::create_sweep(store,
                                   {.id = new_id("swp"),
                                    .name = "elsewhere",
                                    .project = "default",
                                    .spec = elsewhere_spec,
                                    .max_trials = 40,
                                    .max_concurrent = 8,
                                    .external = true,
                                    .created_by = "tok_test"},
                                   "[]", {})
            .id;
    }

    store::Sweep stored(const std::string& id) { return store::find_sweep(store, id).value(); }

    /// One more trial, with its value; its number.
    std::int64_t step(SweepRun& run, StepLog& log, double value = 0.5) {
        take(run, log, search::AskEvent{});
        const std::int64_t trial = std::int64_t(run.search.trials().size()) - 1;
        take(run, log, search::ReportEvent{trial, 1, value});
        take(run, log, search::EndEvent{trial, false});
        return trial;
    }

    /// As a service of its own: reads the log, and keeps nothing.
    void step_by_another(const std::string& id) {
        SweepRun run = load_run(store, stored(id));
        StepLog log;
        step(run, log, 0.25);
        store::commit_sweep_step(store, step_of(run, log));
    }

    void step_and_keep(KeptRuns& runs, const std::string& id) {
        auto lent = runs.borrow(store, stored(id));
        StepLog log;
        step(lent.run(), log);
        lent.keep(store::commit_sweep_step(store, step_of(lent.run(), log)));
    }

    void expect_as_stored(KeptRuns& runs, const std::string& id) {
        auto lent = runs.borrow(store, stored(id));
        const SweepRun fresh = load_run(store, stored(id));
        SweepRun& kept = lent.run();
        EXPECT_EQ(kept.sweep.seq, fresh.sweep.seq);
        EXPECT_EQ(kept.sweep.version, fresh.sweep.version);
        ASSERT_EQ(kept.search.trials().size(), fresh.search.trials().size());
        for (std::size_t i = 0; i < fresh.jobs.size(); ++i) {
            const store::SweepTrial a = trial_row(kept, std::int64_t(i));
            const store::SweepTrial b = trial_row(fresh, std::int64_t(i));
            EXPECT_EQ(a.point, b.point);
            EXPECT_EQ(a.state, b.state);
            EXPECT_EQ(a.value, b.value);
            EXPECT_EQ(a.reason, b.reason);
        }
        EXPECT_EQ(best_of(kept), best_of(fresh));
        lent.keep(kept.sweep);
    }
};

TEST_F(KeptRunsTest, goes_on_where_it_was_given_back) {
    KeptRuns runs;
    const std::string id = make();
    for (int i = 0; i < 6; ++i) {
        step_and_keep(runs, id);
        EXPECT_GT(runs.kept_bytes(), 0);
        expect_as_stored(runs, id);
    }
}

TEST_F(KeptRunsTest, takes_in_what_others_have_stored) {
    KeptRuns runs;
    const std::string id = make();
    for (int i = 0; i < 4; ++i) {
        step_and_keep(runs, id);
        step_by_another(id);
        expect_as_stored(runs, id);
    }
}

TEST_F(KeptRunsTest, what_was_not_stored_is_forgotten) {
    KeptRuns runs;
    const std::string id = make();
    step_and_keep(runs, id);
    {
        auto lent = runs.borrow(store, stored(id));
        StepLog log;
        step(lent.run(), log);
        step_by_another(id);
        EXPECT_THROW(store::commit_sweep_step(store, step_of(lent.run(), log)),
                     store::SweepChanged);
    }
    EXPECT_EQ(runs.kept_bytes(), 0);
    expect_as_stored(runs, id);
}

TEST_F(KeptRunsTest, a_sweep_that_was_read_before_the_last_step_is_read_again) {
    KeptRuns runs;
    const std::string id = make();
    const store::Sweep before = stored(id);
    step_and_keep(runs, id);
    EXPECT_EQ(runs.borrow(store, before).run().sweep.version, stored(id).version);
}

TEST_F(KeptRunsTest, forgets_the_runs_that_were_used_longest_ago) {
    const std::string a = make();
    const std::string b = make();
    const std::string c = make();
    KeptRuns all;
    step_and_keep(all, a);
    const std::int64_t of_one = all.kept_bytes();
    const std::int64_t room = of_one / 4;
    KeptRuns runs({.bytes_max = 2 * of_one + room});
    for (const std::string* id : {&b, &c})
        step_and_keep(runs, *id);
    EXPECT_GE(runs.kept_bytes(), 2 * of_one - room);
    step_and_keep(runs, a);
    EXPECT_LE(runs.kept_bytes(), 2 * of_one + room) << "b is forgotten";
    for (const std::string* id : {&a, &b, &c})
        expect_as_stored(runs, *id);
    KeptRuns small({.bytes_max = of_one - room});
    step_and_keep(small, a);
    EXPECT_EQ(small.kept_bytes(), 0) << "a alone is too large";
    expect_as_stored(small, a);
}

// Goal: a run counts with the bytes of its values: of choices, of reports, of its spec.
TEST_F(KeptRunsTest, a_run_counts_by_its_bytes) {
    KeptRuns runs;
    const std::string id = make();
    step_and_keep(runs, id);
    const std::int64_t before = runs.kept_bytes();
    EXPECT_GE(before, 8 * std::int64_t(stored(id).spec.size()));
    step_and_keep(runs, id);
    const std::int64_t of_trial = runs.kept_bytes() - before;
    EXPECT_GE(of_trial, std::int64_t(sizeof(search::Trial) + 2 * sizeof(double)));

    Json spec = Json::parse(elsewhere_spec);
    const std::string word(1000, 'w');
    spec["space"]["word"] = {{"type", "choice"}, {"values", {word + "1", word + "2"}}};
    const std::string wordy = store::create_sweep(store,
                                                  {.id = new_id("swp"),
                                                   .name = "wordy",
                                                   .project = "default",
                                                   .spec = spec.dump(),
                                                   .max_trials = 40,
                                                   .max_concurrent = 8,
                                                   .external = true,
                                                   .created_by = "tok_test"},
                                                  "[]", {})
                                  .id;
    KeptRuns others;
    step_and_keep(others, wordy);
    const std::int64_t of_wordy = others.kept_bytes();
    step_and_keep(others, wordy);
    EXPECT_GE(others.kept_bytes() - of_wordy, of_trial + 1000);
}

TEST_F(KeptRunsTest, a_deleted_sweep_cannot_be_borrowed) {
    KeptRuns runs;
    const std::string id = make();
    const store::Sweep before = stored(id);
    step_and_keep(runs, id);
    store::SweepStep end{.sweep_id = id, .version = stored(id).version};
    end.state = SweepState::stopped;
    store::commit_sweep_step(store, end);
    ASSERT_TRUE(store::delete_sweep(store, id));
    EXPECT_THROW(runs.borrow(store, before), Error);
    EXPECT_EQ(runs.kept_bytes(), 0);
}

// Method: eight threads take steps; nobody is refused, as each waits for the one before.
TEST_F(KeptRunsTest, who_asks_at_the_same_time_waits) {
    KeptRuns runs({.patience = std::chrono::minutes(1)});
    const std::string id = make();
    std::atomic<int> refused = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&] {
                for (int n = 0; n < 3; ++n)
                    try {
                        step_and_keep(runs, id);
                    } catch (const store::SweepChanged&) {
                        ++refused;
                    }
            });
    }
    EXPECT_EQ(refused, 0);
    EXPECT_EQ(stored(id).counts.trials, 24);
    expect_as_stored(runs, id);
}

TEST_F(KeptRunsTest, who_has_waited_too_long_is_told_to_come_back) {
    KeptRuns runs({.patience = std::chrono::milliseconds(1)});
    const std::string id = make();
    {
        auto lent = runs.borrow(store, stored(id));
        EXPECT_THROW(step_and_keep(runs, id), Error);
        EXPECT_EQ(stored(id).counts.trials, 0);
    }
    step_and_keep(runs, id);
    EXPECT_EQ(stored(id).counts.trials, 1);
}

TEST_F(KeptRunsTest, a_few_logs_are_read_at_a_time) {
    KeptRuns runs({.loads_max = 1, .patience = std::chrono::milliseconds(1)});
    const std::string a = make();
    const std::string b = make();
    step_by_another(a);
    step_by_another(b);
    for (int i = 0; i < 25; ++i)
        step_by_another(a);
    bool is_refused = false;
    const auto read_b = [&] {
        try {
            runs.borrow(store, stored(b));
        } catch (const Error& error) {
            is_refused = is_refused || error.code() == ErrorCode::exhausted;
        }
    };
    runs.borrow(store, stored(a), read_b);
    EXPECT_TRUE(is_refused);
    EXPECT_NO_THROW(runs.borrow(store, stored(b)));
    EXPECT_THROW(runs.borrow(store, stored(a),
                             [] {
                                 throw Error{ErrorCode::exhausted, "gone"};
                             }),
                 Error);
    EXPECT_NO_THROW(runs.borrow(store, stored(a)));
}

}    // namespace
}    // namespace slipway::sweeps
