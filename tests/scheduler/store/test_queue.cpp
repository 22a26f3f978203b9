#include "scheduler/store/queue.h"

#include <gmock/gmock.h>

#include <barrier>
#include <thread>

#include "scheduler/store/datasets.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using enum JobState;

class Queue : public StoreTest {
protected:
    std::optional<int> try_place(const Placement& wanted) {
        return commit_placements(store, {wanted}).at(0).attempt;
    }
    std::vector<std::string> ids() {
        std::vector<std::string> ids;
        for (const QueuedJob& job : list_queue(store))
            ids.push_back(job.job_id);
        return ids;
    }
};

TEST_F(Queue, jobs_stand_in_the_order_of_class_then_age) {
    std::vector<NewJob> jobs(4);
    for (NewJob& job : jobs)
        job = new_job();
    jobs[1].queue_class = "urgent";
    jobs[3].queue_class = "low";
    for (const NewJob& job : jobs)
        submit(job);
    EXPECT_THAT(ids(), ElementsAre(jobs[1].id, jobs[0].id, jobs[2].id, jobs[3].id));
    EXPECT_EQ(find_queue_position(store, jobs[1].id)->position, 1);
    const QueuePosition last = find_queue_position(store, jobs[3].id).value();
    EXPECT_EQ(last.position, 4);
    EXPECT_EQ(last.cores_ahead, 3);
    EXPECT_FALSE(find_queue_position(store, new_id("job")));

    const std::vector<QueueClassStats> stats = queue_stats(store);
    ASSERT_EQ(stats.size(), 3U);
    EXPECT_EQ(stats[0].queue_class, "urgent");
    EXPECT_EQ(stats[1].jobs, 2);
}

TEST_F(Queue, a_placement_makes_attempt_leases_and_state_together) {
    add_host();
    NewJob job = new_job();
    job.cores = 3;
    submit(job);
    const AttemptKey key = place(job.id, {2, 4, 7});
    EXPECT_EQ(key.attempt, 1);
    EXPECT_EQ(state_of(job.id), starting);
    EXPECT_TRUE(list_queue(store).empty());
    std::vector<int> held;
    for (const Core& core : list_cores(store)) {
        if (core.job_id == job.id) held.push_back(core.core);
    }
    EXPECT_THAT(held, ElementsAre(2, 4, 7));
    const std::vector<Attempt> attempts = list_attempts(store, job.id);
    ASSERT_EQ(attempts.size(), 1U);
    EXPECT_EQ(attempts[0].key(), key);
    EXPECT_THAT(attempts[0].cores, ElementsAre(2, 4, 7));
}

TEST_F(Queue, a_placement_that_does_not_fit_stores_nothing) {
    add_host();
    drain_core(store, host, 5, true);
    NewJob later = new_job();
    later.start_after = parse_rfc3339("2100-01-01T00:00:00Z").value();
    submit(later);
    NewJob waiting = new_job();
    waiting.dataset_id = new_id("ds");
    create_dataset(
        store,
        {.id = waiting.dataset_id, .name = "d", .format = "csv", .source = R"({"path": "d"})"});
    submit(waiting);
    NewJob chosen = new_job();
    chosen.core_id = 3;
    submit(chosen);
    const std::string plain = submit();

    EXPECT_FALSE(try_place(placement(later.id, {1})));
    EXPECT_FALSE(try_place(placement(waiting.id, {1})));
    EXPECT_FALSE(try_place(placement(chosen.id, {4})));
    EXPECT_FALSE(try_place(placement(plain, {5})));    // drained
    EXPECT_FALSE(try_place(placement(plain, {9})));    // not there
    EXPECT_FALSE(try_place(placement(plain, {0})));
    EXPECT_FALSE(try_place(placement(plain, {1, 2})));    // not as many as it wants
    EXPECT_FALSE(try_place(placement(plain, {1}, "moon")));
    EXPECT_FALSE(try_place(placement(new_id("job"), {1})));
    EXPECT_EQ(count("attempt"), 0);
    EXPECT_EQ(count("lease"), 0);
    EXPECT_EQ(list_queue(store).size(), 4U);
    EXPECT_TRUE(try_place(placement(chosen.id, {3})));
    EXPECT_FALSE(try_place(placement(chosen.id, {3})));    // no longer queued
}

TEST_F(Queue, one_collision_does_not_undo_the_others) {
    add_host();
    const std::string holder = submit();
    place(holder, {1});
    std::vector<Placement> wanted;
    for (int core = 1; core <= 3; ++core)
        wanted.push_back(placement(submit(), {core}));
    const std::vector<PlacementOutcome> outcomes = commit_placements(store, wanted);
    ASSERT_EQ(outcomes.size(), 3U);
    EXPECT_FALSE(outcomes[0].attempt);
    EXPECT_TRUE(outcomes[1].attempt && outcomes[2].attempt);
    EXPECT_EQ(state_of(wanted[0].job_id), queued);
    EXPECT_EQ(count("lease"), 3);
    EXPECT_TRUE(commit_placements(store, {}).empty());
}

// Goal: two schedulers can never give one core twice, nor start one job twice.
// Method: both place the same jobs on the same cores at the same moment, again and again.
TEST_F(Queue, double_booking_is_impossible) {
    add_host();
    Store other{{.database = database.url()}};
    constexpr int rounds = 15;
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::string> jobs;
        for (int i = 0; i < 4; ++i)
            jobs.push_back(submit());
        std::barrier start(2);
        const auto schedule = [&](Store& mine, bool backwards) {
            std::vector<Placement> wanted;
            for (int i = 0; i < 4; ++i)
                wanted.push_back(placement(jobs[std::size_t(backwards ? 3 - i : i)], {i + 1}));
            start.arrive_and_wait();
            return commit_placements(mine, wanted);
        };
        std::vector<PlacementOutcome> first;
        std::jthread thread([&] { first = schedule(store, false); });
        const std::vector<PlacementOutcome> second = schedule(other, true);
        thread.join();

        EXPECT_EQ(count("(select host, core from lease group by host, core having count(*) > 1) x"),
                  0);
        EXPECT_EQ(count("(select job_id from attempt where ended_at is null group by job_id "
                        "having count(*) > 1) x"),
                  0);
        EXPECT_EQ(count("lease"), count("attempt where ended_at is null"));
        EXPECT_GE(count("lease"), 2);
        for (const std::string& id : jobs) {
            for (const Attempt& attempt : list_attempts(store, id))
                finish_attempt(store, attempt.key(), {.exit_kind = "test", .job_state = failed});
            if (state_of(id) == queued) cancel_job(store, id, {"test", ""});
        }
        EXPECT_EQ(count("lease"), 0);
    }
}

TEST_F(Queue, a_job_that_comes_back_keeps_its_place) {
    add_host();
    const std::string first = submit();
    const AttemptKey key = place(first);
    submit();
    finish_attempt(
        store, key,
        {.exit_kind = "crashed", .job_state = queued, .retry_after = std::chrono::hours{1}});
    ASSERT_EQ(ids().at(0), first);
    EXPECT_FALSE(list_queue(store).at(0).due);
    EXPECT_FALSE(try_place(placement(first, {1})));
}

}    // namespace

}    // namespace slipway::store
