#include "scheduler/store/retention.h"

#include <gmock/gmock.h>

#include "scheduler/store/checkpoints.h"
#include "scheduler/store/deleted_jobs.h"
#include "scheduler/store/events.h"
#include "scheduler/store/invariants.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using enum RetainedKind;

class Retention : public StoreTest {
protected:
    /// A job that has reported of everything; not ended.
    AttemptKey reporting_job(int core) {
        const AttemptKey key = place(submit(), {core});
        RelayedFrame frame{.number = 1, .state = RelayedState{JobState::running}};
        frame.events = {{"log", R"({"message": "a line"})"},
                        {"warning", R"({"message": "look"})"},
                        {"metric", R"({"step": 1})"},
                        {"progress", R"({"step": 1})"}};
        for (std::int64_t step = 1; step <= 1000; ++step)
            frame.metrics.push_back({"loss", step, 0, 1.0 / double(step)});
        relay_frames(store, key, {frame});
        return key;
    }

    std::string ended_job(int days_ago, int core = 1) {
        const AttemptKey key = reporting_job(core);
        finish_attempt(store, key, {.exit_kind = "succeeded", .job_state = JobState::succeeded});
        set_end(key.job_id, days_ago);
        return key.job_id;
    }

    void set_end(const std::string& job_id, int days_ago) {
        database.sql(
            fmt::format("update job set finished_at = clock_timestamp() - "
                        "interval '{} days' where id = '{}'",
                        days_ago, job_id));
    }

    std::string add_checkpoint(const AttemptKey& key, std::int64_t number, std::int64_t step,
                               std::vector<std::string> kinds = {}) {
        RelayedFrame frame{.number = number};
        frame.checkpoint = RelayedCheckpoint{.id = new_id("ckp"),
                                             .name = fmt::format("step-{}", step),
                                             .step = step,
                                             .kinds = std::move(kinds),
                                             .files = "[]",
                                             .bytes = 100};
        relay_frames(store, key, {frame});
        return frame.checkpoint->id;
    }

    /// Batch after batch; how many rows went.
    std::int64_t apply_all(RetainedKind kind, int days) {
        std::int64_t removed = 0;
        for (int calls = 0; calls < 1000; ++calls) {
            const RetentionBatch batch = apply_retention(store, kind, days);
            removed += batch.removed;
            if (!batch.more) return removed;
        }
        ADD_FAILURE() << "it goes on for ever";
        return removed;
    }

    std::vector<std::string> event_types(const std::string& job_id) {
        std::vector<std::string> types;
        for (const Event& event : list_events(store, job_id, {.limit = 1000}))
            types.push_back(event.type);
        return types;
    }

    void expect_no_violations() {
        for (const Invariant& invariant : invariants())
            for (const Violation& one : find_violations(store, invariant, 3))
                ADD_FAILURE() << invariant.name << ": " << one.object << ": " << one.detail;
    }

    void SetUp() override { add_host(); }
};

TEST_F(Retention, each_kind_goes_by_itself_after_its_days_and_the_job_says_so) {
    const std::string old = ended_job(10);
    const std::string young = ended_job(3);
    EXPECT_EQ(apply_all(logs, 5), 2);
    EXPECT_THAT(event_types(old), ElementsAre("state", "state", "state", "state", "metric",
                                              "progress", "state", "state", "end"));
    EXPECT_EQ(apply_all(events, 5), 2);
    EXPECT_THAT(event_types(old),
                ElementsAre("state", "state", "state", "state", "state", "state", "end"));
    EXPECT_GT(apply_all(metrics, 5), 0);
    EXPECT_THAT(samples_of(old, "loss"), IsEmpty());
    EXPECT_THAT(find_job(store, old)->pruned, UnorderedElementsAre("logs", "events", "metrics"));
    EXPECT_EQ(event_types(young).size(), 11U);
    EXPECT_EQ(samples_of(young, "loss").size(), 1000U);
    EXPECT_THAT(find_job(store, young)->pruned, IsEmpty());
    EXPECT_EQ(apply_all(logs, 5) + apply_all(events, 5) + apply_all(metrics, 5), 0);
    expect_no_violations();
}

TEST_F(Retention, what_has_not_ended_loses_nothing) {
    const AttemptKey key = reporting_job(1);
    database.sql("update job set created_at = clock_timestamp() - interval '900 days'");
    for (const RetainedKind kind : {events, logs, metrics, checkpoints, jobs})
        EXPECT_EQ(apply_all(kind, 1), 0) << to_string(kind);
    EXPECT_EQ(samples_of(key.job_id, "loss").size(), 1000U);
}

TEST_F(Retention, events_of_other_jobs_stay_append_only) {
    const std::string job = ended_job(10);
    EXPECT_THROW(database.sql("delete from job_event where type = 'log'"), std::exception);
    apply_all(logs, 5);
    EXPECT_THROW(database.sql("delete from job_event where type = 'metric'"), std::exception);
    EXPECT_THROW(database.sql("delete from job_event where type = 'state'"), std::exception);
    EXPECT_EQ(event_types(job).size(), 9U);
}

TEST_F(Retention, the_newest_the_best_and_pinned_checkpoints_stay) {
    const AttemptKey key = reporting_job(1);
    const std::string surplus = add_checkpoint(key, 2, 10);
    const std::string best = add_checkpoint(key, 3, 20, {"best"});
    const std::string pinned = add_checkpoint(key, 4, 30);
    const std::string used = add_checkpoint(key, 5, 40);
    const std::string newest = add_checkpoint(key, 6, 50, {"last"});
    pin_checkpoint(store, pinned, true);
    NewJob user = new_job();
    user.checkpoint_ids = {used};
    submit(user);
    finish_attempt(store, key, {.exit_kind = "succeeded", .job_state = JobState::succeeded});
    set_end(key.job_id, 10);
    EXPECT_EQ(preview_retention(store, checkpoints, 5).checkpoints, 2);
    EXPECT_EQ(preview_retention(store, checkpoints, 5).checkpoint_bytes, 200);
    EXPECT_EQ(apply_all(checkpoints, 5), 2);
    EXPECT_TRUE(find_checkpoint(store, surplus)->deleted_at);
    for (const std::string& kept : {best, pinned, used, newest})
        EXPECT_FALSE(find_checkpoint(store, kept)->deleted_at) << kept;
    EXPECT_EQ(count("garbage"), 1);
    // The one in use goes with its last user.
    request_intent(store, user.id, Intent::cancel, {"user", ""});
    EXPECT_TRUE(find_checkpoint(store, used)->deleted_at);
    expect_no_violations();
}

TEST_F(Retention, a_checkpoint_that_is_unpinned_later_goes_too) {
    const AttemptKey key = reporting_job(1);
    const std::string pinned = add_checkpoint(key, 2, 10);
    add_checkpoint(key, 3, 20);
    finish_attempt(store, key, {.exit_kind = "succeeded", .job_state = JobState::succeeded});
    set_end(key.job_id, 10);
    ended_job(9, 2);    // the mark passes the first job
    pin_checkpoint(store, pinned, true);
    apply_all(checkpoints, 7);
    EXPECT_FALSE(find_checkpoint(store, pinned)->deleted_at);
    pin_checkpoint(store, pinned, false);
    apply_all(checkpoints, 7);
    EXPECT_TRUE(find_checkpoint(store, pinned)->deleted_at);
}

TEST_F(Retention, jobs_go_with_everything_unless_a_checkpoint_is_pinned) {
    const std::string old = ended_job(10);
    const AttemptKey kept = reporting_job(1);
    const std::string pinned = add_checkpoint(kept, 2, 10, {"last"});
    pin_checkpoint(store, pinned, true);
    finish_attempt(store, kept, {.exit_kind = "succeeded", .job_state = JobState::succeeded});
    set_end(kept.job_id, 10);
    EXPECT_EQ(preview_retention(store, jobs, 5).jobs, 1);
    EXPECT_EQ(apply_all(jobs, 5), 1);
    EXPECT_FALSE(find_job(store, old));
    EXPECT_TRUE(find_job(store, kept.job_id));
    Clearing clearing;
    while (clear_deleted_job(store, clearing, 1000)) {
    }
    EXPECT_EQ(count("job_event where job_id = '" + old + "'"), 0);
    pin_checkpoint(store, pinned, false);
    EXPECT_EQ(apply_all(jobs, 5), 1);
}

// Goal: a batch that ends half-way goes on where it stood, also with more jobs and rows than one
// batch takes, and what others do meanwhile is not lost.
TEST_F(Retention, many_jobs_and_rows_go_in_batches) {
    std::vector<std::string> ids;
    for (int i = 0; i < 130; ++i)
        ids.push_back(ended_job(20 - i / 10));
    const AttemptKey long_one = reporting_job(1);
    RelayedFrame frame{.number = 2};
    for (int i = 0; i < 12'000; ++i)
        frame.events.push_back({"log", R"({"message": "again"})"});
    relay_frames(store, long_one, {frame});
    finish_attempt(store, long_one, {.exit_kind = "succeeded", .job_state = JobState::succeeded});
    set_end(long_one.job_id, 30);
    EXPECT_EQ(preview_retention(store, logs, 5).jobs, 131);
    EXPECT_TRUE(apply_retention(store, logs, 5).more);
    EXPECT_EQ(apply_all(logs, 5), 12'000 + 2 * 131 - 1000);
    EXPECT_EQ(preview_retention(store, logs, 5).jobs, 0);
    EXPECT_EQ(count("job_event where type in ('log', 'warning')"), 0);
    expect_no_violations();
}

}    // namespace

}    // namespace slipway::store
