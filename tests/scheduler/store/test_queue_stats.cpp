#include "scheduler/store/queue_stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "scheduler/store/jobs.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using namespace std::chrono_literals;

class QueueNumbers : public StoreTest {
protected:
    QueueTotal total(const std::string& project, const std::string& queue_class,
                     const std::vector<std::string>& projects = {}) {
        for (const QueueTotal& one : read_queue_stats(store, projects).totals)
            if (one.project == project && one.queue_class == queue_class) return one;
        return {};
    }

    QueueRate last_minute(const std::vector<std::string>& projects = {}) {
        return read_queue_stats(store, projects).rates.at(0);
    }

    std::string submit_to(const std::string& dataset, const std::string& project,
                          const std::string& queue_class) {
        NewJob job = new_job();
        job.dataset_id = dataset;
        job.project = project;
        job.queue_class = queue_class;
        return submit(job);
    }

    /// What the counts say is what a count of the rows says.
    void expect_exact() {
        const std::string ready = database.sql("select count(*) from queue where ready");
        const std::string held = database.sql("select count(*) from queue where not ready");
        std::int64_t counted_ready = 0, counted_held = 0;
        for (const QueueTotal& one : read_queue_stats(store).totals) {
            counted_ready += one.ready();
            counted_held += one.start_after + one.waiting_for_dataset;
        }
        EXPECT_EQ(std::to_string(counted_ready), ready);
        EXPECT_EQ(std::to_string(counted_held), held);
    }
};

TEST_F(QueueNumbers, waiting_jobs_are_counted_by_project_class_and_what_holds_them) {
    const std::string dataset = ready_dataset();
    const std::string later = checking_dataset("later");
    submit_to(dataset, "a", "normal");
    submit_to(dataset, "a", "urgent");
    submit_to(later, "a", "normal");
    submit_to(dataset, "b", "normal");
    insert_jobs(3, dataset, "cores, not_before", "1, '2100-01-01'");
    for (int folded = 0; folded < 2; ++folded) {
        EXPECT_EQ(total("a", "normal").jobs, 2);
        EXPECT_EQ(total("a", "normal").ready(), 1);
        EXPECT_EQ(total("a", "normal").waiting_for_dataset, 1);
        EXPECT_EQ(total("a", "urgent").ready(), 1);
        EXPECT_TRUE(total("a", "urgent").oldest_ready_at);
        EXPECT_EQ(total("default", "normal").start_after, 3);
        EXPECT_FALSE(total("default", "normal").oldest_ready_at);
        EXPECT_EQ(total("b", "normal", {"a"}).jobs, 0) << "not asked for";
        fold_job_counts(store);
    }
    EXPECT_EQ(count("queue_held_count"), 2);
    make_ready();
    EXPECT_EQ(total("a", "normal").ready(), 2);
    EXPECT_EQ(total("a", "normal").waiting_for_dataset, 0);
    expect_exact();
}

// Goal: each way in, out and about keeps the counts exact.
TEST_F(QueueNumbers, whatever_a_job_does_is_counted) {
    add_host();
    const std::string dataset = ready_dataset();
    const std::string moved = submit_to(dataset, "a", "normal");
    patch_job(store, moved, {.queue_class = "high"}, {});
    EXPECT_EQ(total("a", "normal").jobs, 0);
    EXPECT_EQ(total("a", "high").ready(), 1);
    const AttemptKey key = place(moved);
    EXPECT_EQ(total("a", "high").jobs, 0);
    expect_exact();
    finish_attempt(store, key,
                   {.exit_kind = "orphaned", .job_state = JobState::queued, .retry_after = 3600s});
    EXPECT_EQ(total("a", "high").start_after, 1) << "it waits before it is tried again";
    patch_job(store, moved, {.queue_class = "low"}, {});
    EXPECT_EQ(total("a", "low").start_after, 1);
    EXPECT_EQ(total("a", "high").jobs, 0);
    database.sql("update queue set not_before = clock_timestamp() - interval '1 second'");
    EXPECT_EQ(release_due_jobs(store, 10), 1);
    EXPECT_EQ(total("a", "low").ready(), 1);
    expect_exact();
    fold_job_counts(store);
    expect_exact();
    database.sql("delete from job");
    expect_exact();
    EXPECT_TRUE(read_queue_stats(store).totals.empty());
}

TEST_F(QueueNumbers, changes_of_held_jobs_are_added_up_in_batches) {
    database.sql(
        "insert into queue_held_count (project, class_rank, code, jobs)"
        " select 'a', n % 2, 'start_after', case when n % 5 = 0 then -1 else 1 end"
        " from generate_series(1, 25000) as n");
    const auto sums = [&] {
        return database.sql(
            "select string_agg(sum::text, ' ') from (select sum(jobs) as sum"
            " from queue_held_count group by class_rank order by class_rank) as s");
    };
    EXPECT_EQ(sums(), "7500 7500");
    int folds = 1;
    for (; fold_job_counts(store); ++folds) {
        EXPECT_EQ(sums(), "7500 7500");
        ASSERT_LT(folds, 10) << "it does not end";
    }
    EXPECT_EQ(folds, 3);
    EXPECT_EQ(sums(), "7500 7500");
    fold_job_counts(store);    // the sums of the batches
    EXPECT_EQ(count("queue_held_count"), 2);
}

TEST_F(QueueNumbers, more_sums_than_a_batch_has_rows_do_not_keep_the_leader_busy) {
    database.sql(
        "insert into queue_held_count (project, class_rank, code, jobs)"
        " select 'p' || n, 0, 'start_after', 1 from generate_series(1, 12000) as n");
    EXPECT_FALSE(fold_job_counts(store));
    EXPECT_EQ(count("queue_held_count"), 12000);
}

TEST_F(QueueNumbers, what_was_submitted_started_and_ended_lately_is_counted) {
    add_host();
    const std::string dataset = ready_dataset();
    const std::string first = submit_to(dataset, "a", "normal");
    submit_to(dataset, "b", "normal");
    database.sql("update job set created_at = created_at - interval '100 seconds' where id = '" +
                 first + "'");
    const AttemptKey key = place(first);
    relay_state(key, 1, JobState::compiling);
    relay_state(key, 2, JobState::running);
    finish_attempt(store, key, {.exit_kind = "done", .job_state = JobState::succeeded});
    for (int folded = 0; folded < 3; ++folded) {
        const QueueRate rate = last_minute();
        EXPECT_EQ(rate.window, 60s);
        EXPECT_EQ(rate.submitted, 2);
        EXPECT_EQ(rate.started, 1);
        EXPECT_EQ(rate.ended, 1);
        ASSERT_TRUE(rate.wait_mean_s && rate.wait_max_s);
        EXPECT_NEAR(*rate.wait_mean_s, 100, 10);
        EXPECT_EQ(*rate.wait_mean_s, *rate.wait_max_s);
        EXPECT_EQ(last_minute({"b"}).submitted, 1);
        EXPECT_EQ(last_minute({"b"}).started, 0);
        EXPECT_FALSE(last_minute({"b"}).wait_mean_s);
        fold_job_counts(store);
    }
    // Five minutes later, and when 20 are over.
    database.sql("update job_rate set at = at - interval '4 minutes'");
    const QueueStats stats = read_queue_stats(store);
    EXPECT_EQ(stats.rates.at(0).submitted, 0);
    EXPECT_EQ(stats.rates.at(1).submitted, 2);
    EXPECT_EQ(stats.rates.at(2).submitted, 2);
    database.sql("update job_rate set at = at - interval '20 minutes'");
    fold_job_counts(store);
    EXPECT_EQ(count("job_rate"), 0);
}

}    // namespace

}    // namespace slipway::store
