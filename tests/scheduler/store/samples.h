#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "api/base/id.h"
#include "scheduler/store/attempts.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/metrics/curve.h"
#include "scheduler/store/queue.h"
#include "scheduler/store/relay.h"
#include "tests/support/temp_postgres.h"

// A database of its own, and short ways to bring a job into any state.
namespace slipway::store {

class StoreTest : public ::testing::Test {
protected:
    static inline const std::string host = "host-a";

    static NewJob new_job(const std::string& name = "digits") {
        NewJob job;
        job.id = new_id("job");
        job.name = name;
        job.spec = R"({"model": {"arch": "mlp"}})";
        job.created_by = "tok_test";
        return job;
    }

    std::string submit(const NewJob& job) {
        return submit_jobs(store, std::span(&job, 1), {},
                           [](std::span<const Job>) { return StoredResponse{}; })
            .jobs.at(0)
            .id;
    }
    std::string submit() { return submit(new_job()); }

    void add_host(const std::string& name = host, int cores = 8) {
        register_host(store, {.name = name, .cores = cores});
    }

    Placement placement(const std::string& job_id, std::vector<int> cores = {1},
                        const std::string& where = host) const {
        return {.job_id = job_id,
                .members = {{.host = where, .cores = std::move(cores)}},
                .fence = random_hex(16)};
    }

    /// Places the job; the attempt's key.
    AttemptKey place(const std::string& job_id, std::vector<int> cores = {1},
                     const std::string& where = host) {
        const Placement wanted = placement(job_id, std::move(cores), where);
        const std::optional<int> attempt = commit_placements(store, {wanted}).at(0).attempt;
        EXPECT_TRUE(attempt.has_value());
        return {job_id, attempt.value_or(0), wanted.fence};
    }

    /// As the leader does when these hosts have been silent for long enough.
    std::vector<Rescued> rescue_from(const std::string& silent_host) {
        std::vector<HeldLease> silent = list_leases(store);
        std::erase_if(silent, [&](const HeldLease& one) { return one.host != silent_host; });
        return rescue_lost(store, silent);
    }

    /// A running job on core 1 of the host, which is made.
    AttemptKey running_job() {
        add_host();
        const AttemptKey key = place(submit());
        relay_state(key, 1, JobState::compiling);
        relay_state(key, 2, JobState::running);
        return key;
    }

    Relayed relay_state(const AttemptKey& key, std::int64_t number, JobState state) {
        RelayedFrame frame;
        frame.number = number;
        frame.state = RelayedState{state};
        return relay_frames(store, key, {frame});
    }

    /// Every point of a metric.
    std::vector<MetricSample> samples_of(const std::string& job_id, std::string_view name,
                                         const StepRange& range = {}) {
        std::vector<MetricSample> samples;
        const CurveSize all{.buckets_max = 10'000'000, .points_max = 10'000'000};
        for (const MetricBucket& bucket : read_curve(store, job_id, name, range, all).buckets)
            samples.push_back(bucket.last);
        return samples;
    }

    /// The whole queue, held jobs too.
    std::vector<QueuedJob> queue() { return list_queue(store).items; }

    /// A dataset that has passed its check.
    std::string ready_dataset(const std::string& name = "digits") {
        const std::string id = checking_dataset(name);
        make_ready();
        return id;
    }

    /// One that waits for its check.
    std::string checking_dataset(const std::string& name = "digits") {
        return create_dataset(store, {.id = new_id("ds"),
                                      .name = name,
                                      .format = "csv",
                                      .source = R"({"path": "d"})"})
            .id;
    }

    /// The oldest dataset that waits for its check passes it.
    void make_ready() {
        const auto claim = claim_dataset_check(store, host, std::chrono::seconds{60});
        ASSERT_TRUE(claim);
        finish_dataset_check(
            store, claim->dataset.id, claim->fence,
            {.ready = true, .report = "{}", .problems = {}, .content_hash = "sha256:ab"});
    }

    std::string submit_on(const std::string& dataset_id, int cores = 1,
                          std::optional<int> core_id = {}) {
        NewJob job = new_job();
        job.dataset_id = dataset_id;
        job.cores = cores;
        job.core_id = core_id;
        return submit(job);
    }

    /// `many` jobs by one statement, with these columns beside the usual ones: "cores, core_id" and
    /// "1, 5".
    void insert_jobs(int many, const std::string& dataset_id, const std::string& columns,
                     const std::string& values) const {
        database.sql(fmt::format(
            "insert into job (id, name, project, kind, spec, queue_class, restarts_max, "
            "created_by, "
            "dataset_id, {}) select 'job_' || lpad((random() * 1e15)::bigint::text || n, 26, '0'), "
            "'many', 'default', 'train', '{{}}', 'normal', 3, 'tok_test', '{}', {} "
            "from generate_series(1, {}) as n",
            columns, dataset_id, values, many));
    }

    JobState state_of(const std::string& job_id) { return find_job(store, job_id).value().state; }

    std::int64_t count(const std::string& from_where) const {
        return std::stoll(database.sql("select count(*) from " + from_where));
    }

    TempDatabase database;
    Store store{{.database = database.url()}};
};

/// The code of the Error that `call` throws; internal when it throws none (the test fails).
template <class Call>
ErrorCode code_of(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.code();
    }
    ADD_FAILURE() << "nothing was thrown";
    return ErrorCode::internal;
}

}    // namespace slipway::store
