#pragma once

#include <gtest/gtest.h>

#include <string>

#include "api/base/id.h"
#include "scheduler/store/attempts.h"
#include "scheduler/store/hosts.h"
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
        return submit_job(store, job, std::nullopt, [](const Job&) { return StoredResponse{}; })
            .job.id;
    }
    std::string submit() { return submit(new_job()); }

    void add_host(const std::string& name = host, int cores = 8) {
        register_host(store, {.name = name, .cores = cores});
    }

    Placement placement(const std::string& job_id, std::vector<int> cores = {1},
                        const std::string& where = host) const {
        return {
            .job_id = job_id, .host = where, .cores = std::move(cores), .token = random_hex(16)};
    }

    /// Places the job; the attempt's key.
    AttemptKey place(const std::string& job_id, std::vector<int> cores = {1},
                     const std::string& where = host) {
        const Placement wanted = placement(job_id, std::move(cores), where);
        const std::optional<int> attempt = commit_placements(store, {wanted}).at(0).attempt;
        EXPECT_TRUE(attempt.has_value());
        return {job_id, attempt.value_or(0), wanted.token};
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
