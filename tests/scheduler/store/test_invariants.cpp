#include "scheduler/store/invariants.h"

#include <gmock/gmock.h>

#include "tests/scheduler/store/samples.h"

namespace slipway::store {
namespace {

using testing::IsEmpty;

class Invariants : public StoreTest {
protected:
    /// The names of the promises that are broken.
    std::vector<std::string> broken() {
        std::vector<std::string> names;
        for (const Invariant& invariant : invariants())
            if (!find_violations(store, invariant, 5).empty()) names.emplace_back(invariant.name);
        return names;
    }

    /// What no program of ours can do: past triggers and constraints.
    void damage(const std::string& statement) {
        database.sql("set session_replication_role = replica; " + statement);
    }
};

TEST_F(Invariants, jobs_of_every_kind_of_life_keep_them) {
    const AttemptKey running = running_job();
    RelayedFrame frame{.number = 3,
                       .metrics = {{.name = "loss", .step = 1, .epoch = 1, .value = 0.5}},
                       .checkpoint = RelayedCheckpoint{
                           .id = new_id("ckp"), .name = "step_1", .step = 1, .files = "[]"}};
    relay_frames(store, running, {frame});
    const std::string queued = submit();
    request_intent(store, submit(), Intent::cancel, {"user", ""});
    request_intent(store, submit(), Intent::pause, {"user", ""});
    const AttemptKey crashed = place(submit(), {2});
    finish_attempt(store, crashed, {.exit_kind = "crashed", .job_state = JobState::queued});
    const std::string gone = submit();
    request_intent(store, gone, Intent::cancel, {"user", ""});
    delete_job(store, gone);
    EXPECT_THAT(broken(), IsEmpty());
}

/// One promise, and what breaks it: of a running job {0}, a queued one {1}, and a checkpoint {2}.
struct Damage {
    const char* promise;
    const char* statement;
};

class BrokenInvariants : public Invariants, public testing::WithParamInterface<Damage> {};

// Goal: each promise is one that can be broken, and is then found. Method: the database is damaged
// past its own guards, one thing at a time.
TEST_P(BrokenInvariants, are_found) {
    const AttemptKey key = running_job();
    const std::string waiting = submit();
    const std::string checkpoint = new_id("ckp");
    RelayedFrame frame{.number = 3,
                       .metrics = {{.name = "loss", .step = 1, .epoch = 1, .value = 0.5}},
                       .checkpoint = RelayedCheckpoint{
                           .id = checkpoint, .name = "step_1", .step = 1, .files = "[]"}};
    relay_frames(store, key, {frame});
    ASSERT_THAT(broken(), IsEmpty());
    damage(fmt::format(fmt::runtime(GetParam().statement), key.job_id, waiting, checkpoint));
    EXPECT_THAT(broken(), testing::Contains(GetParam().promise));
}

constexpr Damage damages[] = {
    {"one_end", "update job set finished_at = now() where id = '{1}'"},
    {"legal_history",
     "update job_event set body = '{{\"state\": \"paused\"}}' "
     "where job_id = '{0}' and seq = 2"},
    {"gap_free_events", "delete from job_event where job_id = '{0}' and seq = 2"},
    {"numbered_attempts", "update job set attempts = 7 where id = '{0}'"},
    {"one_live_attempt", "update attempt set ended_at = '2100-01-01', exit_kind = 'x'"},
    {"leases_of_live_attempts", "update lease set core = 5"},
    {"members", "update attempt_member set rank = 3"},
    {"queue_of_queued_jobs", "delete from queue where job_id = '{1}'"},
    {"fenced_points", "update metric_chunk set attempt = 9"},
    {"successive_points", "update metric_chunk set first_point = 3"},
    {"rollups",
     "insert into metric_rollup (job_id, name, first_point, step_first, step_last, data) values "
     "('{0}', 'loss', 0, 1, 1, decode(repeat('00', 512 * 68), 'hex'))"},
    {"fenced_checkpoints", "update checkpoint set attempt = 9"},
    {"kept_checkpoints",
     "insert into checkpoint_use (checkpoint_id, job_id) values ('{2}', '{1}'); "
     "update checkpoint set deleted_at = now()"},
};

INSTANTIATE_TEST_SUITE_P(Each, BrokenInvariants, testing::ValuesIn(damages),
                         [](const auto& row) { return std::string(row.param.promise); });

TEST_F(Invariants, every_promise_has_its_damage) {
    std::vector<std::string_view> promises, damaged;
    for (const Invariant& invariant : invariants())
        promises.push_back(invariant.name);
    for (const Damage& one : damages)
        damaged.emplace_back(one.promise);
    EXPECT_EQ(promises, damaged);
}

TEST_F(Invariants, a_violation_names_its_object_and_what_is_wrong) {
    const std::string waiting = submit();
    damage(fmt::format("delete from queue where job_id = '{}'", waiting));
    for (const Invariant& invariant : invariants()) {
        if (invariant.name != "queue_of_queued_jobs") continue;
        const auto found = find_violations(store, invariant, 5);
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ(found[0].object, waiting);
        EXPECT_EQ(found[0].detail, "it is queued and not in the queue");
    }
}

TEST_F(Invariants, the_newest_checkpoints_are_listed_job_by_job) {
    const AttemptKey key = running_job();
    for (const int step : {1, 2})
        relay_frames(
            store, key,
            {RelayedFrame{.number = 2 + step,
                          .checkpoint = RelayedCheckpoint{.id = new_id("ckp"),
                                                          .name = fmt::format("step_{}", step),
                                                          .step = step,
                                                          .files = "[]"}}});
    const auto newest = list_newest_checkpoints(store, host, "", 10);
    ASSERT_EQ(newest.size(), 1U);
    EXPECT_EQ(newest[0].name, "step_2");
    EXPECT_TRUE(list_newest_checkpoints(store, "host-b", "", 10).empty()) << "it is not there";
    EXPECT_TRUE(list_newest_checkpoints(store, host, key.job_id, 10).empty());
}

}    // namespace
}    // namespace slipway::store
