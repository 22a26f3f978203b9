#include "scheduler/store/queue.h"

#include <gmock/gmock.h>

#include <barrier>
#include <functional>
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
        for (const QueuedJob& job : queue())
            ids.push_back(job.job_id);
        return ids;
    }
};

TEST_F(Queue, jobs_stand_in_the_order_of_class_then_age) {
    const std::string dataset = ready_dataset();
    std::vector<NewJob> jobs(4);
    for (NewJob& job : jobs) {
        job = new_job();
        job.dataset_id = dataset;
    }
    jobs[1].queue_class = "urgent";
    jobs[3].queue_class = "low";
    for (const NewJob& job : jobs)
        submit(job);
    EXPECT_THAT(ids(), ElementsAre(jobs[1].id, jobs[0].id, jobs[2].id, jobs[3].id));
    EXPECT_EQ(find_queue_position(store, jobs[1].id), 1);
    EXPECT_EQ(find_queue_position(store, jobs[3].id), 4);
    EXPECT_FALSE(find_queue_position(store, new_id("job")));
    EXPECT_EQ(next_queue_position(store, "default", 0), 2);    // urgent
    EXPECT_EQ(next_queue_position(store, "default", 2), 4);    // normal
    EXPECT_EQ(next_queue_position(store, "default", 4), 5);    // idle
}

TEST_F(Queue, positions_count_only_jobs_that_may_start) {
    const std::string dataset = ready_dataset();
    insert_jobs(3, dataset, "cores, not_before", "1, '2100-01-01'");
    insert_jobs(2, checking_dataset("later"), "cores", "1");
    const std::string first = submit_on(dataset);
    const std::string second = submit_on(dataset, 8);
    EXPECT_EQ(find_queue_position(store, first), 1);
    EXPECT_EQ(find_queue_position(store, second), 2);
    std::vector<std::optional<int>> listed;
    for (const QueuedJob& job : queue())
        listed.push_back(job.position);
    const std::optional<int> held;
    EXPECT_THAT(listed, ElementsAre(held, held, held, held, held, 1, 2));
}

TEST_F(Queue, positions_are_counted_up_to_a_thousand) {
    const std::string dataset = ready_dataset();
    insert_jobs(700, dataset, "cores", "1");
    insert_jobs(700, dataset, "cores, core_id", "1, 4");
    const std::string last = submit_on(dataset);
    EXPECT_EQ(find_queue_position(store, last), queue_position_max + 1);
    EXPECT_EQ(next_queue_position(store, "default", 0), 1);
    EXPECT_EQ(next_queue_position(store, "default", 4), queue_position_max + 1);
    int counted = 0;
    std::string cursor;
    do {
        const Page<QueuedJob> page = list_queue(store, {}, {.limit = 200, .cursor = cursor});
        for (const QueuedJob& job : page.items) {
            ++counted;
            if (counted <= queue_position_max)
                EXPECT_EQ(job.position, counted);
            else
                EXPECT_FALSE(job.position);
        }
        cursor = page.next_cursor;
    } while (!cursor.empty());
    EXPECT_EQ(counted, 1401);
}

TEST_F(Queue, the_list_of_a_project_is_paged_without_the_others) {
    const std::string dataset = ready_dataset();
    std::vector<std::string> mine;
    for (int i = 0; i < 5; ++i) {
        NewJob job = new_job();
        job.dataset_id = dataset;
        job.project = i % 2 == 0 ? "mine" : "theirs";
        submit(job);
        if (i % 2 == 0) mine.push_back(job.id);
    }
    const Page<QueuedJob> first = list_queue(store, {"mine"}, {.limit = 2});
    const Page<QueuedJob> rest =
        list_queue(store, {"mine"}, {.limit = 2, .cursor = first.next_cursor});
    ASSERT_EQ(first.items.size() + rest.items.size(), 3U);
    EXPECT_EQ(first.items[0].job_id, mine[0]);
    EXPECT_EQ(rest.items[0].job_id, mine[2]);
    EXPECT_EQ(rest.items[0].position, 5);
    EXPECT_EQ(rest.next_cursor, "");
    EXPECT_EQ(
        code_of([&] { list_queue(store, {"theirs"}, {.limit = 2, .cursor = first.next_cursor}); }),
        ErrorCode::invalid_argument);
}

TEST_F(Queue, the_list_of_several_projects_is_in_one_order) {
    const std::string dataset = ready_dataset();
    std::vector<std::string> mine;
    for (int i = 0; i < 9; ++i) {
        NewJob job = new_job();
        job.dataset_id = dataset;
        job.project = std::string(1, char('a' + i % 3));
        submit(job);
        if (i % 3 != 2) mine.push_back(job.id);
    }
    std::vector<std::string> listed;
    PageRequest page{.limit = 4, .cursor = {}};
    do {
        const Page<QueuedJob> part = list_queue(store, {"b", "a", "b"}, page);
        for (const QueuedJob& job : part.items)
            listed.push_back(job.job_id);
        page.cursor = part.next_cursor;
    } while (!page.cursor.empty());
    EXPECT_EQ(listed, mine);
    EXPECT_TRUE(list_queue(store, {"none"}).items.empty());
}

TEST_F(Queue, of_each_shape_the_first_ones_are_read) {
    const std::string dataset = ready_dataset();
    insert_jobs(50, dataset, "cores, not_before", "1, '2100-01-01'");
    insert_jobs(50, dataset, "cores, core_id", "1, 5");
    insert_jobs(50, dataset, "cores", "8");
    const std::string one = submit_on(dataset);
    const std::string on_third = submit_on(dataset, 1, 3);
    const std::vector<QueuedJob> ready = list_ready_jobs(store, 8);
    ASSERT_EQ(ready.size(), 18U);
    EXPECT_EQ(ready[16].job_id, one);
    EXPECT_EQ(ready[17].job_id, on_third);
    EXPECT_EQ(ready[17].core_id, 3);
    EXPECT_TRUE(ready[17].due);
}

std::vector<std::string> ids_of(const std::vector<QueuedJob>& jobs) {
    std::vector<std::string> ids;
    std::ranges::transform(jobs, std::back_inserter(ids), &QueuedJob::job_id);
    return ids;
}

TEST_F(Queue, a_reading_that_begins_where_an_earlier_one_did_finds_what_came_since) {
    add_host();
    const std::string dataset = ready_dataset();
    const std::string first = submit_on(dataset);
    const std::string second = submit_on(dataset);
    database.sql("update queue set queued_at = queued_at - interval '1 hour'");
    const ReadyJobs whole = read_ready_jobs(store, 8);
    ASSERT_THAT(ids_of(whole.jobs), ElementsAre(first, second));
    place(first);
    NewJob job = new_job();
    job.dataset_id = dataset;
    job.queue_class = "urgent";
    const std::string urgent = submit(job);
    const std::string of_another_shape = submit_on(dataset, 8);
    const std::string last = submit_on(dataset);
    EXPECT_THAT(ids_of(read_ready_jobs(store, 8, {}, whole.starts).jobs),
                ElementsAre(urgent, second, of_another_shape, last));
    EXPECT_THAT(ids_of(list_ready_jobs(store, 8)),
                ElementsAre(urgent, second, of_another_shape, last));
    EXPECT_THAT(ids_of(read_ready_jobs(store, 2, {}, whole.starts).jobs),
                ElementsAre(urgent, second, of_another_shape))
        << "two of each shape";
}

TEST_F(Queue, a_job_that_comes_back_to_a_place_in_front_is_found_by_the_next_whole_reading) {
    const std::string dataset = ready_dataset();
    const std::string first = submit_on(dataset);
    const ReadyJobs whole = read_ready_jobs(store, 8);
    const std::string back = submit_on(dataset);
    database.sql("update queue set queued_at = queued_at - interval '1 hour' where job_id = '" +
                 back + "'");
    EXPECT_THAT(ids_of(read_ready_jobs(store, 8, {}, whole.starts).jobs), ElementsAre(first));
    EXPECT_THAT(ids_of(list_ready_jobs(store, 8)), ElementsAre(back, first));
}

TEST_F(Queue, a_group_at_its_limit_begins_where_the_queue_does) {
    add_host();
    const std::string dataset = ready_dataset();
    std::vector<NewJob> jobs(2);
    for (NewJob& job : jobs) {
        job = new_job();
        job.dataset_id = dataset;
        job.spec = R"({"queue": {"group": "sweep", "group_limit": 1}})";
        submit(job);
    }
    place(jobs[0].id);
    database.sql("update queue set queued_at = queued_at - interval '1 hour'");
    const ReadyJobs whole = read_ready_jobs(store, 8);
    EXPECT_TRUE(whole.jobs.empty());
    EXPECT_TRUE(read_ready_jobs(store, 8, {}, whole.starts).jobs.empty());
    database.sql("update job_group set jobs_max = 2");
    EXPECT_THAT(ids_of(read_ready_jobs(store, 8, {}, whole.starts).jobs), ElementsAre(jobs[1].id));
}

TEST_F(Queue, what_is_submitted_to_an_empty_queue_is_found_from_its_starts) {
    const ReadyJobs whole = read_ready_jobs(store, 8);
    EXPECT_TRUE(whole.starts.shapes.empty());
    const std::string job = submit_on(ready_dataset());
    EXPECT_THAT(ids_of(read_ready_jobs(store, 8, {}, whole.starts).jobs), ElementsAre(job));
}

TEST_F(Queue, a_dataset_that_passes_its_check_lets_its_jobs_start) {
    const std::string dataset = checking_dataset();
    const std::string job = submit_on(dataset);
    submit_on(checking_dataset("another"));
    EXPECT_TRUE(list_ready_jobs(store, 8).empty());
    make_ready();
    ASSERT_EQ(list_ready_jobs(store, 8).size(), 1U);
    EXPECT_EQ(list_ready_jobs(store, 8)[0].job_id, job);
}

TEST_F(Queue, start_times_that_have_come_are_released_the_most_urgent_first) {
    const std::string dataset = ready_dataset();
    insert_jobs(5, dataset, "cores, not_before", "1, clock_timestamp() + interval '1 hour'");
    insert_jobs(1, dataset, "cores, not_before", "1, '2100-01-01'");
    NewJob urgent = new_job();
    urgent.dataset_id = dataset;
    urgent.queue_class = "urgent";
    urgent.start_after = system_clock().now() + std::chrono::hours{2};
    submit(urgent);
    EXPECT_EQ(release_due_jobs(store, 2), 0);
    database.sql(
        "update queue set not_before = not_before - interval '3 hours' "
        "where not_before < '2100-01-01'");
    EXPECT_EQ(release_due_jobs(store, 2), 2);
    ASSERT_EQ(list_ready_jobs(store, 8).size(), 2U);
    EXPECT_EQ(list_ready_jobs(store, 8)[0].job_id, urgent.id);
    EXPECT_EQ(release_due_jobs(store, 100), 4);
    EXPECT_EQ(count("queue where not ready"), 1);
}

TEST_F(Queue, a_placement_makes_attempt_leases_and_state_together) {
    add_host();
    NewJob job = new_job();
    job.cores = 3;
    submit(job);
    const AttemptKey key = place(job.id, {2, 4, 7});
    EXPECT_EQ(key.attempt, 1);
    EXPECT_EQ(state_of(job.id), starting);
    EXPECT_TRUE(queue().empty());
    std::vector<int> held;
    for (const Core& core : list_cores(store)) {
        if (core.job_id == job.id) held.push_back(core.core);
    }
    EXPECT_THAT(held, ElementsAre(2, 4, 7));
    const std::vector<Attempt> attempts = list_attempts(store, job.id).items;
    ASSERT_EQ(attempts.size(), 1U);
    EXPECT_EQ(attempts[0].key(), key);
    ASSERT_EQ(attempts[0].members.size(), 1U);
    EXPECT_EQ(attempts[0].members[0].rank, 0);
    EXPECT_EQ(attempts[0].members[0].host, host);
    EXPECT_THAT(attempts[0].members[0].cores, ElementsAre(2, 4, 7));
}

// Goal: an attempt on several hosts has a member on each, and its leases all or none of them.
TEST_F(Queue, a_placement_on_two_hosts_is_stored_wholly_or_not_at_all) {
    add_host();
    add_host("host-b");
    NewJob job = new_job();
    job.cores = 4;
    submit(job);
    Placement wanted = placement(job.id, {2, 1});
    wanted.members.push_back({.host = "host-b", .cores = {7, 8}});
    const Placement whole = wanted;
    wanted.members[1].cores = {7, 9};    // not there
    EXPECT_FALSE(try_place(wanted));
    wanted.members[1] = {.host = "moon", .cores = {7, 8}};
    EXPECT_FALSE(try_place(wanted));
    wanted.members[1] = {.host = host, .cores = {7, 8}};    // one member a host
    EXPECT_FALSE(try_place(wanted));
    const std::string holder = submit();
    place(holder, {8}, "host-b");
    EXPECT_FALSE(try_place(whole));
    EXPECT_EQ(count("attempt"), 1);
    EXPECT_EQ(count("attempt_member"), 1);
    EXPECT_EQ(count("lease"), 1);
    EXPECT_EQ(state_of(job.id), queued);

    finish_attempt(store, list_attempts(store, holder).items.at(0).key(),
                   {.exit_kind = "test", .job_state = failed});
    ASSERT_TRUE(try_place(whole));
    const std::vector<Attempt> attempts = list_attempts(store, job.id).items;
    ASSERT_EQ(attempts.size(), 1U);
    ASSERT_EQ(attempts[0].members.size(), 2U);
    EXPECT_EQ(attempts[0].members[0].host, host);
    EXPECT_THAT(attempts[0].members[0].cores, ElementsAre(1, 2));
    EXPECT_EQ(attempts[0].members[1].rank, 1);
    EXPECT_EQ(attempts[0].members[1].host, "host-b");
    EXPECT_THAT(attempts[0].members[1].cores, ElementsAre(7, 8));
    EXPECT_EQ(count("lease"), 4);
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
    EXPECT_EQ(queue().size(), 4U);
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
            for (const Attempt& attempt : list_attempts(store, id).items)
                finish_attempt(store, attempt.key(), {.exit_kind = "test", .job_state = failed});
            if (state_of(id) == queued) request_intent(store, id, Intent::cancel, {"test", ""});
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
    EXPECT_FALSE(queue().at(0).due);
    EXPECT_FALSE(try_place(placement(first, {1})));
}

TEST_F(Queue, a_job_that_has_started_does_not_expire) {
    add_host();
    NewJob started = new_job();
    started.valid_until = system_clock().now() + std::chrono::hours{1};
    NewJob waiting = started;
    waiting.id = new_id("job");
    submit(started);
    submit(waiting);
    const AttemptKey key = place(started.id);
    finish_attempt(store, key, {.exit_kind = "lost", .job_state = queued});
    database.sql(
        "update queue set valid_until = clock_timestamp() - interval '1 second' "
        "where valid_until is not null");
    EXPECT_THAT(expire_queued_jobs(store), ElementsAre(waiting.id));
    EXPECT_EQ(state_of(started.id), queued);
    EXPECT_EQ(state_of(waiting.id), expired);
}

// Goal: who places, expires, cancels, patches or releases never waits in a circle.
// Method: all of them on the same jobs at the same moment, on connections of their own; PostgreSQL
// counts the deadlocks that it broke.
TEST_F(Queue, no_order_of_locks_can_deadlock) {
    add_host();
    const std::string dataset = ready_dataset();
    constexpr int rounds = 30;
    constexpr int jobs_of_round = 8;
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::string> jobs;
        for (int i = 0; i < jobs_of_round; ++i) {
            NewJob job = new_job();
            job.dataset_id = dataset;
            job.valid_until = system_clock().now() + std::chrono::hours{1};
            jobs.push_back(submit(job));
        }
        database.sql(
            "update queue set valid_until = clock_timestamp() - interval '1 second', "
            "not_before = clock_timestamp() - interval '1 second'");
        std::barrier start(4);
        const auto together = [&](const std::function<void(Store&)>& act) {
            return std::jthread([&start, act, url = database.url()] {
                Store mine{{.database = url}};
                mine.ping();
                start.arrive_and_wait();
                act(mine);
            });
        };
        const auto each = [&](const std::function<void(const std::string&)>& act) {
            for (const std::string& job : jobs) {
                try {
                    act(job);
                } catch (const Error& error) {
                    EXPECT_EQ(error.code(), ErrorCode::conflict) << error.what();
                }
            }
        };
        {
            const auto placing = together([&](Store& mine) {
                for (int i = 0; i < jobs_of_round; ++i)
                    commit_placements(mine, {placement(jobs[std::size_t(i)], {i + 1})});
            });
            const auto expiring = together([&](Store& mine) {
                expire_queued_jobs(mine);
                release_due_jobs(mine, 100);
            });
            const auto patching = together([&](Store& mine) {
                each([&](const std::string& job) {
                    patch_job(mine, job, {.queue_class = "high"}, std::nullopt);
                });
            });
            const auto cancelling_ = together([&](Store& mine) {
                each([&](const std::string& job) {
                    request_intent(mine, job, Intent::cancel, {"test", ""});
                });
            });
        }
        for (const std::string& job : jobs) {
            for (const Attempt& attempt : list_attempts(store, job).items)
                finish_attempt(store, attempt.key(), {.exit_kind = "test", .job_state = cancelled});
        }
        EXPECT_EQ(count("queue"), 0);
    }
    EXPECT_EQ(database.sql("select deadlocks from pg_stat_database "
                           "where datname = current_database()"),
              "0");
}

TEST_F(Queue, counts_of_states_are_those_of_the_jobs) {
    add_host();
    std::vector<std::string> jobs;
    for (int i = 0; i < 6; ++i)
        jobs.push_back(submit());
    place(jobs[0], {1});
    request_intent(store, jobs[1], Intent::cancel, {"test", ""});
    request_intent(store, jobs[2], Intent::cancel, {"test", ""});
    delete_job(store, jobs[2]);
    const std::map<JobState, std::int64_t> expected{{queued, 3}, {starting, 1}, {cancelled, 1}};
    EXPECT_EQ(count_jobs(store), expected);
    EXPECT_GT(count("job_count"), 3);
    fold_job_counts(store);
    EXPECT_EQ(count_jobs(store), expected);
    EXPECT_EQ(count("job_count"), 3);
}

TEST_F(Queue, counts_are_sums_and_the_changes_since) {
    submit();
    fold_job_counts(store);
    const std::string folded = database.sql("select min(at) from job_count");
    submit();
    EXPECT_EQ(count_jobs(store).at(queued), 2);
    fold_job_counts(store);
    EXPECT_EQ(count_jobs(store).at(queued), 2);
    fold_job_counts(store);
    EXPECT_NE(database.sql("select min(at) from job_count"), folded);
    const std::string sums = database.sql("select max(ctid) from job_count");
    fold_job_counts(store);
    EXPECT_EQ(database.sql("select max(ctid) from job_count"), sums)
        << "without changes nothing is written";
}

TEST_F(Queue, a_change_that_comes_long_after_its_time_counts_from_the_next_sum_on) {
    submit();
    fold_job_counts(store);
    submit();
    database.sql("update job_count set at = at - interval '4 s' where not is_total");
    EXPECT_EQ(count_jobs(store).at(queued), 2);
    database.sql("update job_count set at = at - interval '1 minute' where not is_total");
    EXPECT_EQ(count_jobs(store).at(queued), 1);
    fold_job_counts(store);
    EXPECT_EQ(count_jobs(store).at(queued), 2);
}

}    // namespace

}    // namespace slipway::store
