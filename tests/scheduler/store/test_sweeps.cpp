// Goal: a step of a sweep is stored whole or not at all, and only on what was read.
#include <gmock/gmock.h>

#include "scheduler/store/sweeps.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SweepStore : public StoreTest {
protected:
    Sweep make(const std::string& name = "lr", std::int64_t active_max = 0) {
        return create_sweep(store,
                            {.id = new_id("swp"),
                             .name = name,
                             .project = "default",
                             .labels = {{"team", "vision"}},
                             .spec = "{}",
                             .max_trials = 9,
                             .max_concurrent = 2,
                             .created_by = "tok_test"},
                            "[]", {.active_max = active_max});
    }

    static SweepTrial trial(int number, const std::string& state, std::optional<double> value) {
        return {.number = number,
                .state = state,
                .point = R"({"lr": 0.1})",
                .reports = value ? 1 : 0,
                .last_time = value ? std::optional<std::int64_t>(1) : std::nullopt,
                .last_value = value,
                .value = value,
                .value_time = value ? std::optional<std::int64_t>(1) : std::nullopt,
                .jobs = 1,
                .reason = "because"};
    }

    static SweepStep step_on(const Sweep& sweep, std::vector<SweepTrial> trials) {
        SweepStep step{.sweep_id = sweep.id, .version = sweep.version, .trials = std::move(trials)};
        step.events = {{.event = R"({"type": "ask"})", .decisions = R"([{"action": "start"}])"}};
        return step;
    }

    std::vector<int> numbers(const std::string& id, TrialOrder order, bool lower, int limit,
                             const std::vector<std::string>& states = {}) {
        std::vector<int> numbers;
        PageRequest page{.limit = limit};
        do {
            const auto trials = list_sweep_trials(store, id, states, order, lower, page);
            for (const SweepTrial& one : trials.items)
                numbers.push_back(one.number);
            page.cursor = trials.next_cursor;
        } while (!page.cursor.empty());
        return numbers;
    }
};

TEST_F(SweepStore, a_new_sweep_comes_back_and_is_listed) {
    const Sweep sweep = make();
    make("other");
    EXPECT_EQ(sweep.state, SweepState::running);
    EXPECT_EQ(sweep.labels, (std::map<std::string, std::string>{{"team", "vision"}}));
    EXPECT_FALSE(sweep.best.has_value());
    EXPECT_THAT(list_sweeps(store, {.name_contains = "L"}, {}).items, SizeIs(1));
    EXPECT_THAT(list_sweeps(store, {.states = {SweepState::paused}}, {}).items, IsEmpty());
    EXPECT_THAT(list_sweeps(store, {.projects = {"elsewhere"}}, {}).items, IsEmpty());
    EXPECT_THAT(list_sweeps(store, {.labels = {{"team", "vision"}}}, {}).items, SizeIs(2));
    EXPECT_THAT(list_active_sweeps(store, 10), SizeIs(2));
    EXPECT_FALSE(find_sweep(store, new_id("swp")).has_value());
    EXPECT_EQ(code_of([&] { make("third", 2); }), ErrorCode::exhausted);
}

TEST_F(SweepStore, a_step_is_stored_once) {
    const Sweep sweep = make();
    SweepStep step = step_on(sweep, {trial(0, "running", 0.5)});
    step.counts = TrialCounts{.trials = 1, .running = 1};
    step.best = BestTrial{.trial = 0, .value = 0.5};
    const Sweep after = commit_sweep_step(store, step);
    EXPECT_EQ(after.seq, 1);
    EXPECT_EQ(after.counts, *step.counts);
    EXPECT_EQ(after.best, *step.best);
    EXPECT_THROW(commit_sweep_step(store, step), SweepChanged) << "on what was read before";
    EXPECT_THAT(list_sweep_events(store, sweep.id, 0, 10).events, SizeIs(1));
    const SweepTrial stored = find_sweep_trial(store, sweep.id, 0).value();
    EXPECT_EQ(stored.value, 0.5);
    EXPECT_EQ(stored.reason, "because");
    EXPECT_FALSE(stored.ended_at.has_value());
}

TEST_F(SweepStore, pages_of_large_points_end_early_and_go_on) {
    Sweep sweep = make();
    const std::string megabyte = '"' + std::string(1 << 20, 'x') + '"';
    for (int number = 0; number < 5; ++number) {
        SweepTrial large = trial(number, "running", 0.5 - number);
        large.point = megabyte;
        SweepStep step = step_on(sweep, {large});
        step.events[0].event = megabyte;
        sweep = commit_sweep_step(store, step);
    }
    using enum TrialOrder;
    for (const TrialOrder order : {number, best, worst}) {
        EXPECT_THAT(list_sweep_trials(store, sweep.id, {}, order, true, {.limit = 200}).items,
                    SizeIs(2));
        EXPECT_THAT(numbers(sweep.id, order, true, 200), SizeIs(5));
    }
    std::vector<std::int64_t> seqs;
    for (bool more = true; more;) {
        const auto page = list_sweep_events(store, sweep.id, seqs.empty() ? 0 : seqs.back(), 200);
        EXPECT_LE(page.events.size(), 2U);
        for (const SweepEvent& event : page.events)
            seqs.push_back(event.seq);
        more = page.more;
    }
    EXPECT_THAT(seqs, ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(SweepStore, a_step_goes_with_its_jobs_or_not_at_all) {
    const Sweep sweep = make();
    const SweepStep step = step_on(sweep, {trial(0, "running", std::nullopt)});
    NewJob lost = new_job();
    lost.dataset_id = new_id("ds");
    const auto also = [&](Transaction& transaction) { write_sweep_step(transaction, step, {}); };
    const auto no_answer = [](std::span<const Job>) { return StoredResponse{}; };
    EXPECT_ANY_THROW(submit_jobs(store, std::span(&lost, 1), {.also = also}, no_answer));
    EXPECT_THAT(all_sweep_trials(store, sweep.id), IsEmpty());
    EXPECT_EQ(find_sweep(store, sweep.id)->version, sweep.version);
    const NewJob good = new_job();
    submit_jobs(store, std::span(&good, 1), {.also = also}, no_answer);
    EXPECT_THAT(all_sweep_trials(store, sweep.id), SizeIs(1));
}

TEST_F(SweepStore, a_step_cancels_jobs_that_have_not_ended) {
    const Sweep sweep = make();
    const std::string waits = submit();
    const std::string done = submit();
    move_job(store, done, JobState::cancelled, Reason{"cancelled", "before"});
    SweepStep step = step_on(sweep, {});
    step.ends = {{waits, {"stopped_by_sweep", "rank 9 of 9"}},
                 {done, {"stopped_by_sweep", "late"}},
                 {new_id("job"), {"stopped_by_sweep", "gone"}}};
    commit_sweep_step(store, step);
    EXPECT_EQ(find_job(store, waits)->reason->message, "rank 9 of 9");
    EXPECT_EQ(find_job(store, done)->reason->message, "before");
}

TEST_F(SweepStore, trials_are_listed_by_number_and_by_value) {
    const Sweep sweep = make();
    commit_sweep_step(store, step_on(sweep, {trial(0, "completed", 0.5), trial(1, "failed", {}),
                                             trial(2, "completed", 0.1), trial(3, "stopped", 0.5),
                                             trial(4, "running", 0.9)}));
    for (const int limit : {1, 2, 50}) {
        EXPECT_THAT(numbers(sweep.id, TrialOrder::number, true, limit), ElementsAre(0, 1, 2, 3, 4));
        EXPECT_THAT(numbers(sweep.id, TrialOrder::best, true, limit), ElementsAre(2, 0, 3, 4));
        EXPECT_THAT(numbers(sweep.id, TrialOrder::best, false, limit), ElementsAre(4, 0, 3, 2));
        EXPECT_THAT(numbers(sweep.id, TrialOrder::worst, true, limit), ElementsAre(4, 0, 3, 2));
    }
    EXPECT_THAT(numbers(sweep.id, TrialOrder::number, true, 50, {"failed", "stopped"}),
                ElementsAre(1, 3));
}

TEST_F(SweepStore, open_jobs_are_seen_with_what_has_changed) {
    const Sweep sweep = make();
    NewJob job = new_job();
    job.parent = JobParent{.id = sweep.id, .key = "0"};
    const std::string id = submit(job);
    SweepTrial open = trial(0, "running", {});
    open.job_id = id;
    open.job_open = true;
    SweepTrial gone = trial(1, "running", {});
    gone.job_id = new_id("job");
    gone.job_open = true;
    commit_sweep_step(store, step_on(sweep, {open, gone, trial(2, "completed", 0.1)}));
    const auto before = list_open_trial_jobs(store, {sweep.id});
    ASSERT_THAT(before, SizeIs(2));
    EXPECT_EQ(before[0].state, JobState::queued);
    EXPECT_FALSE(before[1].state.has_value());
    EXPECT_EQ(list_open_trial_jobs(store, {sweep.id})[0].seen, before[0].seen);
    request_intent(store, id, Intent::cancel, {"cancelled", "a user"});
    const auto after = list_open_trial_jobs(store, {sweep.id});
    EXPECT_NE(after[0].seen, before[0].seen);
    EXPECT_EQ(after[0].reason->code, "cancelled");
    EXPECT_EQ(sweep_core_seconds(store, sweep.id), 0);
    EXPECT_FALSE(find_job_of_parent(store, sweep.id, "0").has_value()) << "it has not succeeded";
}

TEST_F(SweepStore, a_sweep_is_deleted_after_its_end_and_without_jobs) {
    const Sweep sweep = make();
    NewJob job = new_job();
    job.parent = JobParent{.id = sweep.id, .key = "0"};
    submit(job);
    EXPECT_EQ(code_of([&] { delete_sweep(store, sweep.id); }), ErrorCode::conflict);
    SweepStep end = step_on(sweep, {trial(0, "failed", {})});
    end.state = SweepState::stopped;
    end.reason = Reason{"stopped", "a user"};
    EXPECT_TRUE(commit_sweep_step(store, end).finished_at.has_value());
    EXPECT_THAT(list_active_sweeps(store, 10), IsEmpty());
    EXPECT_EQ(code_of([&] { delete_sweep(store, sweep.id); }), ErrorCode::conflict);
    end_jobs_of_parent(store, sweep.id, Intent::cancel, {"cancelled", "a user"});
    delete_jobs_of_parent(store, sweep.id);
    EXPECT_TRUE(delete_sweep(store, sweep.id));
    EXPECT_FALSE(delete_sweep(store, sweep.id));
    EXPECT_EQ(count("sweep_trial") + count("sweep_event"), 0);
}

}    // namespace

}    // namespace slipway::store
