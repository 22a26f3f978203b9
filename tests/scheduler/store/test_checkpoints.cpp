#include "scheduler/store/checkpoints.h"

#include <gmock/gmock.h>

#include <barrier>
#include <future>
#include <thread>

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "tests/scheduler/store/samples.h"
#include "tests/support/eventually.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;

class Checkpoints : public StoreTest {
protected:
    std::string commit(const AttemptKey& key, std::int64_t number, std::int64_t step,
                       std::vector<std::string> pruned = {}) {
        RelayedFrame frame;
        frame.number = number;
        frame.checkpoint = RelayedCheckpoint{.id = new_id("ckp"),
                                             .name = fmt::format("step_{}", step),
                                             .step = step,
                                             .epoch = 2,
                                             .kinds = {"last", "best"},
                                             .files = R"([{"name": "weights"}])",
                                             .bytes = 77,
                                             .metric_name = "val_loss",
                                             .metric_value = 0.125,
                                             .pruned = std::move(pruned)};
        pruned_names = relay_frames(store, key, {frame}).pruned;
        return frame.checkpoint->id;
    }

    /// A queued job that begins with this checkpoint.
    std::string submit_user(const std::string& checkpoint) {
        NewJob job = new_job("user");
        job.checkpoint_ids = {checkpoint};
        return submit(job);
    }

    bool is_kept(const std::string& id) { return !find_checkpoint(store, id)->deleted_at; }

    std::vector<std::string> pruned_names;    ///< by the last commit()
};

TEST_F(Checkpoints, are_kept_as_they_were_relayed) {
    const AttemptKey key = running_job();
    const std::string id = commit(key, 3, 10);
    const Checkpoint checkpoint = find_checkpoint(store, id).value();
    EXPECT_EQ(checkpoint.job_id, key.job_id);
    EXPECT_EQ(checkpoint.project, "default");
    EXPECT_EQ(checkpoint.attempt, 1);
    EXPECT_EQ(checkpoint.step, 10);
    EXPECT_THAT(checkpoint.kinds, ElementsAre("last", "best"));
    EXPECT_EQ(checkpoint.files, R"([{"name": "weights"}])");
    EXPECT_EQ(checkpoint.bytes, 77);
    EXPECT_EQ(checkpoint.metric_value, 0.125);
    EXPECT_FALSE(checkpoint.deleted_at || checkpoint.pinned);
    EXPECT_FALSE(find_checkpoint(store, new_id("ckp")));
    EXPECT_FALSE(find_newest_checkpoint(store, new_id("job")));
}

TEST_F(Checkpoints, the_newest_is_the_one_with_the_highest_step) {
    const AttemptKey key = running_job();
    commit(key, 3, 10);
    const std::string newest = commit(key, 4, 30);
    commit(key, 5, 20);
    EXPECT_EQ(find_newest_checkpoint(store, key.job_id)->id, newest);
}

TEST_F(Checkpoints, what_a_job_may_need_is_not_deleted) {
    const AttemptKey key = running_job();
    const std::string old = commit(key, 3, 10);
    const std::string newest = commit(key, 4, 20);
    EXPECT_EQ(code_of([&] { delete_checkpoint(store, newest); }), ErrorCode::conflict);
    EXPECT_TRUE(pin_checkpoint(store, old, true)->pinned);
    EXPECT_EQ(code_of([&] { delete_checkpoint(store, old); }), ErrorCode::conflict);
    EXPECT_FALSE(pin_checkpoint(store, old, false)->pinned);
    EXPECT_TRUE(delete_checkpoint(store, old));
    EXPECT_TRUE(delete_checkpoint(store, old));    // again
    EXPECT_TRUE(find_checkpoint(store, old)->deleted_at);
    EXPECT_FALSE(delete_checkpoint(store, new_id("ckp")));
    EXPECT_FALSE(pin_checkpoint(store, new_id("ckp"), true));

    finish_attempt(store, key, {.exit_kind = "failed", .job_state = JobState::failed});
    EXPECT_TRUE(delete_checkpoint(store, newest));
    EXPECT_FALSE(find_newest_checkpoint(store, key.job_id));
    EXPECT_EQ(list_garbage(store, host).size(), 2U);
}

// Goal: the newest checkpoint that is left stays, also when the newer one goes at the same moment.
// Method: the deletion waits for a transaction that takes the newer one, and must see what it did.
TEST_F(Checkpoints, what_becomes_the_newest_meanwhile_is_not_deleted) {
    const AttemptKey key = running_job();
    const std::string old = commit(key, 3, 10);
    const std::string newest = commit(key, 4, 20);
    const Pool::Lease lease = store.pool().acquire();
    Transaction other(*lease);
    other.run(queries::lock_job, {key.job_id});
    other.run(queries::mark_checkpoint_deleted, {newest});
    auto deletion = std::async(std::launch::async,
                               [&] { return code_of([&] { delete_checkpoint(store, old); }); });
    ASSERT_TRUE(eventually([&] { return count("pg_locks where not granted") > 0; }));
    other.commit();
    EXPECT_EQ(deletion.get(), ErrorCode::conflict);
    EXPECT_TRUE(is_kept(old));
}

TEST_F(Checkpoints, what_a_job_uses_goes_with_its_last_user) {
    const AttemptKey key = running_job();
    const std::string used = commit(key, 3, 10);
    const std::string first = submit_user(used);
    const std::string second = submit_user(used);
    commit(key, 4, 20);
    commit(key, 5, 30, {"step_10", "step_20"});
    EXPECT_THAT(pruned_names, ElementsAre("step_20"));
    EXPECT_EQ(list_garbage(store, host).size(), 1U);
    EXPECT_EQ(code_of([&] { delete_checkpoint(store, used); }), ErrorCode::conflict);

    request_intent(store, first, Intent::cancel, {"user", ""});
    EXPECT_TRUE(is_kept(used));
    const AttemptKey user = place(second, {2});
    relay_state(user, 1, JobState::running);
    finish_attempt(store, user, {.exit_kind = "crashed", .job_state = JobState::queued});
    EXPECT_TRUE(is_kept(used));    // the user runs again
    finish_attempt(store, place(second, {2}),
                   {.exit_kind = "failed", .job_state = JobState::failed});
    EXPECT_FALSE(is_kept(used));
    EXPECT_EQ(list_garbage(store, host).at(1).path, "checkpoints/" + key.job_id + "/step_10");
    EXPECT_EQ(count("checkpoint_use"), 0);
    EXPECT_EQ(code_of([&] { submit_user(used); }), ErrorCode::not_found);
    EXPECT_EQ(code_of([&] { submit_user(new_id("ckp")); }), ErrorCode::not_found);
    EXPECT_EQ(count("job"), 3);
}

TEST_F(Checkpoints, an_expired_user_lets_go_and_what_is_wanted_stays) {
    const AttemptKey key = running_job();
    const std::string unwanted = commit(key, 3, 10);
    const std::string wanted = commit(key, 4, 20);
    const std::string pinned = commit(key, 5, 30);
    for (const std::string& id : {unwanted, wanted, pinned}) {
        NewJob job = new_job("late");
        job.checkpoint_ids = {id};
        job.valid_until = parse_rfc3339("2020-01-01T00:00:00Z").value();
        submit(job);
    }
    commit(key, 6, 40, {"step_10", "step_30"});
    EXPECT_THAT(pruned_names, ElementsAre());
    pin_checkpoint(store, pinned, true);
    EXPECT_EQ(expire_queued_jobs(store).size(), 3U);
    EXPECT_FALSE(is_kept(unwanted));
    EXPECT_TRUE(is_kept(wanted));
    EXPECT_TRUE(is_kept(pinned));
    EXPECT_TRUE(delete_checkpoint(store, wanted));
    EXPECT_EQ(list_garbage(store, host).size(), 2U);
}

TEST_F(Checkpoints, a_job_whose_checkpoint_is_used_is_not_deleted) {
    const AttemptKey key = running_job();
    const std::string used = commit(key, 3, 10);
    finish_attempt(store, key, {.exit_kind = "failed", .job_state = JobState::failed});
    const std::string user = submit_user(used);
    EXPECT_EQ(code_of([&] { delete_job(store, key.job_id); }), ErrorCode::conflict);
    EXPECT_TRUE(list_garbage(store, host).empty());
    request_intent(store, user, Intent::cancel, {"user", ""});
    EXPECT_TRUE(delete_job(store, key.job_id));
    EXPECT_TRUE(find_job(store, user));
    EXPECT_TRUE(delete_job(store, user));
}

// Goal: a job is deleted or a new job begins with its checkpoint, never both.
// Method: both at the same time, many times.
TEST_F(Checkpoints, the_deletion_of_a_job_and_new_jobs_do_not_miss_each_other) {
    Store other{{.database = database.url()}};
    const auto error_of = [](const auto& call) -> std::optional<ErrorCode> {
        try {
            call();
            return std::nullopt;
        } catch (const Error& error) {
            return error.code();
        }
    };
    for (int round = 0; round < 20; ++round) {
        const AttemptKey key = running_job();
        const std::string used = commit(key, 3, 10);
        finish_attempt(store, key, {.exit_kind = "failed", .job_state = JobState::failed});
        std::barrier start(2);
        auto deletion = std::async(std::launch::async, [&] {
            start.arrive_and_wait();
            return error_of([&] { delete_job(other, key.job_id); });
        });
        start.arrive_and_wait();
        const auto submission = error_of([&] { submit_user(used); });
        const bool is_deleted = !deletion.get();
        EXPECT_EQ(submission, is_deleted ? std::optional(ErrorCode::not_found) : std::nullopt);
        EXPECT_EQ(find_job(store, key.job_id).has_value(), !is_deleted);
        EXPECT_EQ(count("checkpoint_use where checkpoint_id = '" + used + "'"), is_deleted ? 0 : 1);
    }
}

// Goal: a job is refused or keeps its checkpoint, never accepted without it.
// Method: retention and a new job at the same time, many times; then the users end at once.
TEST_F(Checkpoints, retention_and_new_jobs_do_not_miss_each_other) {
    const AttemptKey key = running_job();
    Store other{{.database = database.url()}};
    constexpr int rounds = 30;
    std::vector<std::string> users;
    int refused = 0;
    for (int round = 0; round < rounds; ++round) {
        const std::string id = commit(key, 3 + 2 * round, round);
        NewJob job = new_job("user");
        job.checkpoint_ids = {id};
        {
            std::jthread submitting([&] {
                try {
                    submit_jobs(other, std::span(&job, 1), {},
                                [](std::span<const Job>) { return StoredResponse{}; });
                    users.push_back(job.id);
                } catch (const Error& error) {
                    EXPECT_EQ(error.code(), ErrorCode::not_found);
                    ++refused;
                }
            });
            commit(key, 4 + 2 * round, 1000 + round, {fmt::format("step_{}", round)});
        }
        EXPECT_EQ(is_kept(id), find_job(store, job.id).has_value());
        EXPECT_EQ(pruned_names.empty(), is_kept(id));
    }
    EXPECT_EQ(int(users.size()) + refused, rounds);
    {
        const auto cancel_from = [&](Store& by, std::size_t first) {
            for (std::size_t i = first; i < users.size(); i += 2)
                request_intent(by, users[i], Intent::cancel, {"user", ""});
        };
        std::jthread even([&] { cancel_from(other, 0); });
        cancel_from(store, 1);
    }
    EXPECT_EQ(count("checkpoint where deleted_at is null"), rounds);    // those of 1000 and up
    EXPECT_EQ(count("garbage"), rounds);
}

// Goal: of the last two users, one finds that it is the last.
TEST_F(Checkpoints, users_that_end_together_leave_nothing) {
    const AttemptKey key = running_job();
    Store other{{.database = database.url()}};
    constexpr int rounds = 20;
    for (int round = 0; round < rounds; ++round) {
        const std::string id = commit(key, 3 + 2 * round, round);
        const std::string first = submit_user(id);
        const std::string second = submit_user(id);
        commit(key, 4 + 2 * round, 1000 + round, {fmt::format("step_{}", round)});
        {
            std::jthread cancelling([&] {
                request_intent(other, first, Intent::cancel, {"user", ""});
            });
            request_intent(store, second, Intent::cancel, {"user", ""});
        }
        EXPECT_FALSE(is_kept(id));
    }
    EXPECT_EQ(count("garbage"), rounds);
}

TEST_F(Checkpoints, lists_are_narrowed_and_paged) {
    const AttemptKey key = running_job();
    const std::string first = commit(key, 3, 10);
    const std::string second = commit(key, 4, 20);
    const std::string third = commit(key, 5, 30);
    delete_checkpoint(store, first);
    const auto ids = [&](const CheckpointFilter& filter) {
        std::vector<std::string> found;
        PageRequest page{.limit = 1};
        do {
            const Page<Checkpoint> part = list_checkpoints(store, filter, page);
            for (const Checkpoint& checkpoint : part.items)
                found.push_back(checkpoint.id);
            page.cursor = part.next_cursor;
        } while (!page.cursor.empty());
        return found;
    };
    EXPECT_THAT(ids({}), ElementsAre(third, second));
    EXPECT_THAT(ids({.job_id = key.job_id, .deleted_too = true}),
                ElementsAre(third, second, first));
    EXPECT_THAT(ids({.job_id = new_id("job")}), ElementsAre());
    EXPECT_THAT(ids({.projects = {"other"}}), ElementsAre());
}

}    // namespace

}    // namespace slipway::store
