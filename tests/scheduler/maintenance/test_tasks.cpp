#include "scheduler/maintenance/place_jobs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>

#include "scheduler/maintenance/explain_wait.h"
#include "scheduler/maintenance/loop.h"
#include "scheduler/maintenance/rescue_attempts.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/groups.h"
#include "scheduler/store/projects.h"
#include "tests/scheduler/store/samples.h"
#include "tests/support/eventually.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;
using store::NewJob;
using enum JobState;

class Maintenance : public store::StoreTest {
protected:
    void SetUp() override {
        store::create_dataset(store, {.id = new_id("ds"),
                                      .name = "digits",
                                      .format = "idx",
                                      .source = R"({"path": "digits"})",
                                      .options = "{}",
                                      .created_by = "tok_test"});
        dataset_id = store::find_dataset(store, "default", "digits")->id;
    }

    std::string submit_wanting(int cores, std::optional<int> core_id = {}) {
        NewJob job = new_job();
        job.dataset_id = dataset_id;
        job.cores = cores;
        job.core_id = core_id;
        return submit(job);
    }

    std::string submit_spec(const std::string& spec) {
        NewJob job = new_job();
        job.dataset_id = dataset_id;
        job.spec = spec;
        return submit(job);
    }

    std::string wait_code(const std::string& job_id) {
        const auto reason = explain_wait(store, job_id, 10s);
        return reason ? reason->code : "";
    }

    std::string dataset_id;
};

/// A spec that asks for so many MiB.
std::string asks_for(std::int64_t mebibytes) {
    return fmt::format(R"({{"accelerator": {{"memory_bytes": {}}}}})", mebibytes << 20);
}

TEST_F(Maintenance, the_limits_of_running_jobs_are_never_more_than_the_host_has) {
    make_ready();
    store::register_host(store, {.name = host, .cores = 8, .job_memory_bytes = 8192LL << 20});
    const std::string first = submit_spec(asks_for(6144));
    const std::string share = submit_spec("{}");
    const std::string more = submit_spec(asks_for(1025));
    place_jobs(store, 10s, 10s);
    place_jobs(store, 10s, 10s);
    EXPECT_EQ(state_of(first), starting);
    EXPECT_EQ(state_of(share), starting);
    EXPECT_EQ(state_of(more), queued);
    EXPECT_EQ(wait_code(more), "waiting_for_memory");
    const std::string message = explain_wait(store, more, 10s)->message;
    for (const std::int64_t mebibytes : {1280, 1024, 8192})    // counted, left, of all
        EXPECT_NE(message.find(fmt::to_string(mebibytes << 20)), std::string::npos) << message;
}

// Before, jobs of one shape differed in their memory, and as many as there are cores hid all
// others.
TEST_F(Maintenance, jobs_that_no_host_has_the_memory_for_hide_no_other) {
    make_ready();
    for (int i = 0; i < 20; ++i)
        submit_spec(asks_for(100 << 10));
    const std::string small = submit_spec("{}");
    const std::string fits = submit_spec(asks_for(2000));
    store::register_host(store, {.name = host, .cores = 8, .job_memory_bytes = 8192LL << 20});
    place_jobs(store, 10s, 10s);
    EXPECT_EQ(state_of(small), starting);
    EXPECT_EQ(state_of(fits), starting);
}

TEST_F(Maintenance, the_decisions_of_the_next_pass_are_counted) {
    make_ready();
    add_host();
    submit_wanting(8);
    submit_wanting(1);
    submit_wanting(1);
    const DecisionCounts counts = count_decisions(store, {}, 10s);
    EXPECT_EQ(counts.starting, 1);
    EXPECT_EQ(counts.waiting, (std::map<std::string, std::int64_t>{{"waiting_for_cores", 2}}));
    const DecisionCounts of_others = count_decisions(store, {"vision"}, 10s);
    EXPECT_EQ(of_others.starting, 0);
    EXPECT_TRUE(of_others.waiting.empty());
}

TEST_F(Maintenance, queued_jobs_get_cores_leases_and_the_state_starting) {
    make_ready();
    add_host();
    const std::string big = submit_wanting(8);
    const std::string small = submit_wanting(1);
    const PlaceCounts counts = place_jobs(store, 10s, 10s);
    EXPECT_EQ(counts.placed, 1);
    EXPECT_EQ(counts.waiting, 1);
    EXPECT_EQ(state_of(big), starting);
    EXPECT_EQ(state_of(small), queued);
    EXPECT_EQ(count("lease"), 8);
    EXPECT_EQ(wait_code(small), "waiting_for_cores");
    EXPECT_EQ(wait_code(big), "") << "it does not wait";
}

TEST_F(Maintenance, a_job_of_a_lower_class_gives_way_and_waits_again_at_its_age) {
    make_ready();
    add_host();
    const std::string old = submit_wanting(8);
    place_jobs(store, 10s, 10s);
    ASSERT_EQ(state_of(old), starting);
    NewJob wanted = new_job();
    wanted.dataset_id = dataset_id;
    wanted.cores = 8;
    wanted.queue_class = "high";
    const std::string urgent = submit(wanted);
    const std::string normal = submit_wanting(1);
    EXPECT_EQ(wait_code(urgent), "preempting");
    EXPECT_EQ(state_of(old), starting) << "to explain asks nobody";
    PlaceCounts counts = place_jobs(store, 10s, 10s);
    EXPECT_EQ(counts.preempted, 1);
    EXPECT_EQ(counts.placed, 0);
    EXPECT_EQ(state_of(old), preempting);
    EXPECT_EQ(store::find_job(store, old)->reason->code, "preempted");
    EXPECT_EQ(wait_code(urgent), "preempting");
    EXPECT_EQ(place_jobs(store, 10s, 10s).preempted, 0) << "once is enough";
    const auto live = store::list_live_attempts(store, host);
    ASSERT_EQ(live.size(), 1U);
    EXPECT_EQ(live[0].intent, Intent::preempt);
    store::finish_attempt(
        store, live[0].attempt.key(),
        {.exit_kind = "orphaned", .job_state = queued, .counts_as_restart = false});
    counts = place_jobs(store, 10s, 10s);
    EXPECT_EQ(counts.placed, 1);
    EXPECT_EQ(state_of(urgent), starting);
    const auto back = store::find_job(store, old);
    EXPECT_EQ(back->state, queued);
    EXPECT_EQ(back->restarts, 0);
    EXPECT_EQ(store::find_queue_position(store, old), 1) << "before the younger normal one";
    EXPECT_EQ(store::find_queue_position(store, normal), 2);
}

// Goal: what happened to a job can be read afterwards.
TEST_F(Maintenance, what_is_decided_on_a_job_is_kept_with_its_reason) {
    make_ready();
    add_host();
    const std::string low = submit_wanting(8);
    place_jobs(store, 10s, 10s);
    NewJob wanted = new_job();
    wanted.dataset_id = dataset_id;
    wanted.queue_class = "urgent";
    const std::string urgent = submit(wanted);
    PlaceMemory memory;
    place_jobs(store, 10s, 10s, {}, &memory);
    const auto of = [&](const std::string& job) {
        return store::list_decisions(store, {.job_id = job}, {.limit = 10}).items;
    };
    ASSERT_EQ(of(low).size(), 2U);
    EXPECT_EQ(of(low)[1].kind, "start");
    EXPECT_EQ(of(low)[1].reason.code, "free_cores");
    EXPECT_EQ(of(low)[1].cores.size(), 8U);
    EXPECT_EQ(of(low)[0].kind, "preempt");
    EXPECT_EQ(of(low)[0].reason.related_job, urgent);
    EXPECT_TRUE(of(urgent).empty()) << "it has not waited for a second yet";
}

TEST(Waits, a_reason_that_lasts_is_recorded_once_and_again_when_it_changes) {
    WaitMemory memory;
    const Instant begin = Instant{} + std::chrono::days{1};
    const auto codes = [&](const std::string& code, std::chrono::milliseconds after) {
        std::vector<std::string> recorded;
        for (const store::NewDecision& one : memory.to_record(
                 {{.job_id = "j", .code = code, .message = "m", .cores = {}}}, begin + after))
            recorded.push_back(one.reason.code);
        return recorded;
    };
    using Codes = std::vector<std::string>;
    EXPECT_EQ(codes("behind", 0ms), Codes{});
    EXPECT_EQ(codes("behind", 999ms), Codes{});
    EXPECT_EQ(codes("behind", 1000ms), Codes{"behind"});
    EXPECT_EQ(codes("behind", 9000ms), Codes{});
    EXPECT_EQ(codes("quota", 9500ms), Codes{});
    EXPECT_EQ(codes("quota", 11000ms), Codes{"quota"});
    EXPECT_TRUE(memory.to_record({}, begin + 12s).empty());
    EXPECT_EQ(codes("quota", 13000ms), Codes{}) << "it was gone: a new wait";
}

// Goal: however many jobs of a full group are ahead, others start, and each says why it waits.
TEST_F(Maintenance, a_thousand_held_jobs_of_a_group_hide_no_other) {
    make_ready();
    const auto grouped = [&](int many) {
        insert_jobs(many, dataset_id, "cores", "1");
        database.sql(
            "update queue set group_name = 'sweep' where group_name = '' and name = 'many'");
    };
    grouped(1000);
    store::set_group_limit(store, "default", "sweep", 2);
    const std::string other = submit_wanting(1);
    add_host();
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 3);
    EXPECT_EQ(state_of(other), starting);
    EXPECT_EQ(count("queue where group_name = 'sweep'"), 998);
    database.sql("update job set spec = '{\"queue\": {\"group\": \"sweep\"}}' where name = 'many'");
    const std::string later = submit_wanting(1);
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 1);
    EXPECT_EQ(state_of(later), starting);
    const std::string last = database.sql("select max(job_id) from queue");
    const auto why = explain_wait(store, last, 10s);
    EXPECT_EQ(why->code, "group_limit");
    EXPECT_EQ(why->message,
              "2 jobs of group sweep of project default run or go first, and its limit is 2");
    store::set_group_limit(store, "default", "sweep", 4);
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 2);
}

TEST_F(Maintenance, a_quota_is_kept_and_explained) {
    make_ready();
    add_host();
    store::set_quota(store, "default", 2);
    const std::string first = submit_wanting(1);
    const std::string second = submit_wanting(1);
    const std::string third = submit_wanting(1);
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 2);
    EXPECT_EQ(state_of(third), queued);
    EXPECT_EQ(wait_code(third), "quota");
    store::set_quota(store, "default", std::nullopt);
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 1);
}

TEST_F(Maintenance, projects_take_turns_by_what_they_have_used) {
    make_ready();
    add_host();
    const auto submit_in = [&](const std::string& project) {
        NewJob job = new_job();
        job.dataset_id = dataset_id;
        job.project = project;
        return submit(job);
    };
    database.sql("insert into project_usage (project, core_seconds) values ('greedy', 1000)");
    std::vector<std::string> greedy;
    for (int i = 0; i < 12; ++i)
        greedy.push_back(submit_in("greedy"));
    std::vector<std::string> modest;
    for (int i = 0; i < 6; ++i)
        modest.push_back(submit_in("modest"));
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 8);
    for (const std::string& job : modest)
        EXPECT_EQ(state_of(job), starting);
    EXPECT_EQ(state_of(greedy[1]), starting);
    EXPECT_EQ(state_of(greedy[2]), queued);
}

TEST_F(Maintenance, a_job_waits_for_its_dataset_and_says_so) {
    add_host();
    const std::string job = submit_wanting(1);
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 0);
    EXPECT_EQ(wait_code(job), "waiting_for_dataset");
    make_ready();
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 1);
}

TEST_F(Maintenance, each_reason_to_wait_has_its_code) {
    make_ready();
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 0);
    const std::string nowhere = submit_wanting(1);
    EXPECT_EQ(wait_code(nowhere), "waiting_for_cores");
    add_host();
    store::drain_core(store, host, 3, true);
    const std::string drained = submit_wanting(1, 3);
    EXPECT_EQ(wait_code(drained), "core_drained");
    NewJob late = new_job();
    late.dataset_id = dataset_id;
    late.start_after = system_clock().now() + 24h;
    const std::string later = submit(late);
    EXPECT_EQ(wait_code(later), "start_after");
    const std::string holder = submit_wanting(1, 5);
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 2);
    const std::string busy = submit_wanting(1, 5);
    const auto reason = explain_wait(store, busy, 10s);
    EXPECT_EQ(reason->code, "core_busy");
    EXPECT_EQ(reason->blocking_job, holder);
    EXPECT_EQ(wait_code(submit_wanting(1, 5)), "behind");
    store::drain_host(store, host, "new disk", "tok_a");
    const auto why = explain_wait(store, submit_wanting(1), 10s);
    EXPECT_EQ(why->code, "host_drained");
    EXPECT_NE(why->message.find("(new disk)"), std::string::npos);
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 0);
    store::undrain_host(store, host);
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 1);
}

// Goal: no number of jobs that cannot start hides one that can, and each of them says why it waits.
// Method: more held jobs of every kind than any list has rows, all older and one kind more urgent.
TEST_F(Maintenance, no_number_of_held_jobs_hides_a_ready_one) {
    make_ready();
    insert_jobs(5300, dataset_id, "cores, not_before", "1, '2030-01-01'");
    insert_jobs(1500, dataset_id, "cores, core_id", "1, 5");
    insert_jobs(1500, dataset_id, "cores", "8");
    insert_jobs(1500, checking_dataset("unchecked"), "cores", "1");
    database.sql("update job set queue_class = 'urgent' where core_id = 5");
    // Only now: on a slow machine the jobs take longer to make than a host may be silent.
    add_host();
    store::drain_core(store, host, 5, true);
    const std::string ready = submit_wanting(1);
    EXPECT_EQ(wait_code(ready), "") << "the next pass will place it";
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 1);
    EXPECT_EQ(state_of(ready), starting);

    const auto last = [&](const std::string& where) {
        return database.sql("select max(job_id) from queue where " + where);
    };
    EXPECT_EQ(wait_code(last("not_before is not null")), "start_after");
    EXPECT_EQ(wait_code(last("core_id = 5")), "core_drained");
    EXPECT_EQ(wait_code(last("cores = 8")), "core_drained");
    EXPECT_EQ(wait_code(last("not dataset_ready")), "waiting_for_dataset");
    store::drain_core(store, host, 5, false);
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 1) << "core 5 to one of those that want it";
    EXPECT_EQ(wait_code(last("core_id = 5")), "behind");
    EXPECT_EQ(wait_code(last("cores = 8")), "behind");
}

TEST_F(Maintenance, start_times_that_come_together_are_released_pass_by_pass) {
    make_ready();
    insert_jobs(2500, dataset_id, "cores, not_before", "1, clock_timestamp() + interval '1 hour'");
    database.sql("update queue set not_before = clock_timestamp() - interval '1 second'");
    EXPECT_TRUE(place_jobs(store, 10s, 10s).more_are_due);
    EXPECT_EQ(count("queue where ready"), 2000);
    EXPECT_FALSE(place_jobs(store, 10s, 10s).more_are_due);
    EXPECT_EQ(count("queue where ready"), 2500);
}

TEST_F(Maintenance, attempts_of_a_lost_host_run_again) {
    make_ready();
    add_host("other");
    const std::string job = submit_wanting(1);
    ASSERT_EQ(place_jobs(store, 10s, 10s).placed, 1);
    LeaseMemory memory;
    // The look after a break of the connection counts nothing.
    const Tick now = system_clock().tick();
    EXPECT_EQ(rescue_attempts(store, host, 1ms, memory, now), 0) << "it is seen for the first time";
    EXPECT_EQ(state_of(job), starting);
    EXPECT_TRUE(eventually(
        [&] { return rescue_attempts(store, host, 1ms, memory, system_clock().tick()) == 1; }));
    EXPECT_EQ(state_of(job), queued);
    EXPECT_EQ(count("lease"), 0);
}

// Goal: a step of the database's clock takes no attempt from a host that lives.
TEST_F(Maintenance, a_clock_that_is_set_forward_takes_nothing_from_a_living_host) {
    make_ready();
    add_host("other");
    const std::string job = submit_wanting(1);
    ASSERT_EQ(place_jobs(store, 10s, 10s).placed, 1);
    const store::HeldLease lease = store::list_leases(store).at(0);
    LeaseMemory memory;
    Tick now = system_clock().tick();
    for (int second = 0; second < 30; ++second, now += 1s) {
        // As if an hour had passed since each heartbeat.
        store::renew_leases(store, "other", {lease.key}, 10s);
        database.sql("update lease set expires_at = expires_at - interval '1 hour'");
        memory.look(store::list_leases(store), now, 1h);
        EXPECT_TRUE(memory.silent(host, 10s).empty());
    }
    for (int second = 0; second < 10; ++second, now += 1s)
        memory.look(store::list_leases(store), now, 1h);
    EXPECT_EQ(memory.silent(host, 10s).size(), 1U) << "it renews nothing any longer";
    EXPECT_EQ(state_of(job), starting);
}

// Rows that a restore without a transaction, or a hand, has left.
TEST_F(Maintenance, queue_rows_of_jobs_that_are_not_queued_are_dropped_and_block_nothing) {
    make_ready();
    add_host();
    const std::string ended = submit_wanting(8);
    database.sql(
        "create table kept as select * from queue; update job set state = 'cancelled'; "
        "insert into queue (job_id, class_rank, queued_at, cores, dataset_id, dataset_ready, "
        "project, name) select job_id, class_rank, queued_at, cores, dataset_id, dataset_ready, "
        "project, name from kept");
    ASSERT_EQ(count("queue"), 1);
    const std::string job = submit_wanting(8);
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 0) << "the first in line is not queued";
    EXPECT_EQ(count("queue"), 1);
    EXPECT_EQ(place_jobs(store, 10s, 10s).placed, 1);
    EXPECT_EQ(state_of(job), starting);
    EXPECT_EQ(state_of(ended), cancelled);
}

// Goal: a row that cannot be placed, for whatever reason, does not keep others waiting.
TEST_F(Maintenance, a_row_that_is_refused_again_and_again_is_passed_over) {
    make_ready();
    add_host();
    const std::string odd = submit_wanting(8);
    database.sql("update job set cores = 7");
    const std::string job = submit_wanting(8);
    PlaceMemory memory;
    EXPECT_TRUE(eventually([&] { return place_jobs(store, 10s, 10s, {}, &memory).placed == 1; }));
    EXPECT_EQ(state_of(job), starting);
    EXPECT_EQ(state_of(odd), queued);
}

TEST_F(Maintenance, the_loop_places_expires_and_tells_the_agent) {
    make_ready();
    add_host();
    std::atomic<int> told{0};
    MaintenanceOptions options{.host = host};
    options.on_placed = [&] { ++told; };
    MaintenanceLoop loop(store, options, system_clock());
    const std::string job = submit_wanting(1);
    NewJob stale = new_job();
    stale.dataset_id = dataset_id;
    stale.core_id = 1;
    stale.valid_until = system_clock().now() + 300ms;
    const std::string stale_id = submit(stale);
    loop.wake();
    EXPECT_TRUE(eventually([&] { return state_of(job) == starting; }));
    EXPECT_TRUE(eventually([&] { return state_of(stale_id) == expired; }));
    EXPECT_TRUE(eventually([&] { return told >= 1 && loop.counts().expired == 1; }));
    EXPECT_TRUE(loop.counts().leads);
    EXPECT_EQ(loop.counts().placed, 1);
}

// Many jobs wait for a dataset: the loop goes on until all have followed its check.
TEST_F(Maintenance, the_loop_lets_many_jobs_follow_a_check) {
    insert_jobs(1200, dataset_id, "cores", "1");
    const std::string failing = checking_dataset("failing");
    insert_jobs(1200, failing, "cores", "1");
    MaintenanceLoop loop(store,
                         MaintenanceOptions{.host = host, .tick = 20ms, .follow_every = 50ms},
                         system_clock());
    make_ready();
    const auto check = store::claim_dataset_check(store, host, 10s);
    ASSERT_TRUE(check);
    store::finish_dataset_check(store, failing, check->fence, {.problems = "[]"});
    EXPECT_TRUE(eventually([&] {
        return count("queue where dataset_ready") == 1200 &&
               count("job where state = 'failed'") == 1200;
    }));
    EXPECT_EQ(loop.counts().failed_ticks, 0);
}

// Whatever time the calls take: passes are so far apart, and the last wake-up is not forgotten.
TEST_F(Maintenance, a_burst_of_submissions_shares_a_tick) {
    make_ready();
    add_host();
    constexpr auto pause = 20ms;
    MaintenanceLoop loop(store, MaintenanceOptions{.host = host, .tick = 1h, .wake_pause = pause},
                         system_clock());
    ASSERT_TRUE(eventually([&] { return loop.counts().ticks > 0; }));
    const std::int64_t before = loop.counts().ticks;
    const Tick began = system_clock().tick();
    while (loop.counts().ticks < before + 3)
        loop.wake();
    EXPECT_GE(system_clock().tick() - began, 2 * pause);
    const std::string job = submit_wanting(1);
    loop.wake();
    EXPECT_TRUE(eventually([&] { return state_of(job) == starting; }));
}

TEST_F(Maintenance, only_one_of_two_loops_works_and_the_other_takes_over) {
    make_ready();
    add_host();
    auto first = std::make_unique<MaintenanceLoop>(
        store, MaintenanceOptions{.host = host, .tick = 20ms}, system_clock());
    ASSERT_TRUE(eventually([&] { return first->counts().leads; }));
    MaintenanceLoop second(store, MaintenanceOptions{.host = host, .tick = 20ms}, system_clock());
    EXPECT_FALSE(eventually([&] { return second.counts().ticks > 0; }, 200ms));
    first.reset();
    EXPECT_TRUE(eventually([&] { return second.counts().leads; }));
}

// Goal: one line per task and outage. A task that succeeds says nothing about one that fails.
TEST_F(Maintenance, a_task_that_fails_is_told_once_while_others_succeed) {
    testing::internal::CaptureStderr();
    {
        MaintenanceLoop loop(store,
                             MaintenanceOptions{.host = host, .tick = 5ms, .count_every = 5ms},
                             system_clock());
        const auto fails_again = [&](std::int64_t times) {
            const std::int64_t before = loop.counts().failed_ticks;
            return eventually([&] { return loop.counts().failed_ticks >= before + times; });
        };
        const auto works = [&] {
            return eventually([&] {
                const MaintenanceCounts first = loop.counts();
                eventually([&] { return loop.counts().ticks >= first.ticks + 3; });
                return loop.counts().failed_ticks == first.failed_ticks;
            });
        };
        for (int outage = 0; outage < 2; ++outage) {
            database.sql("alter table job_count rename to job_count_away");
            EXPECT_TRUE(fails_again(5));
            database.sql("alter table job_count_away rename to job_count");
            EXPECT_TRUE(works());
        }
    }
    const std::string log = testing::internal::GetCapturedStderr();
    const std::string line = "a maintenance task failed task=count";
    const std::size_t first = log.find(line);
    ASSERT_NE(first, std::string::npos) << log;
    const std::size_t second = log.find(line, first + 1);
    ASSERT_NE(second, std::string::npos) << "the second outage: " << log;
    EXPECT_EQ(log.find(line, second + 1), std::string::npos) << log;
}

TEST_F(Maintenance, a_database_that_is_away_is_waited_for) {
    make_ready();
    add_host();
    MaintenanceLoop loop(store, MaintenanceOptions{.host = host, .tick = 20ms}, system_clock());
    ASSERT_TRUE(eventually([&] { return loop.counts().ticks > 0; }));
    TempPostgres::instance().kill();
    EXPECT_TRUE(eventually([&] { return !loop.counts().leads; }));
    TempPostgres::instance().start();
    ASSERT_TRUE(eventually([&] { return loop.counts().leads && store.connected_for(); }));
    const std::string job = submit_wanting(1);
    EXPECT_TRUE(eventually([&] { return state_of(job) == starting; }));
}

}    // namespace
}    // namespace slipway
