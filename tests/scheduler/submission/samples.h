#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

#include "api/base/parsed_json.h"
#include "scheduler/submission/job_kinds.h"
#include "scheduler/submission/submit.h"
#include "tests/scheduler/store/samples.h"

// Requests of every kind, and a database that has what they name.
namespace slipway::submission {

class SubmissionTest : public store::StoreTest {
protected:
    SubmissionTest() { ready_dataset("points"); }

    /// A job spec that is accepted, with these changes.
    static Json training(const Json& changes = Json::object()) {
        Json spec = Json::parse(R"({
            "model": {"arch": "mlp"}, "task": {"type": "classification"},
            "data": {"dataset": "points"},
            "train": {"epochs": 4, "optimizer": {"name": "adam", "lr": 0.01}},
            "accelerator": {"cores": 1}})");
        spec.merge_patch(changes);
        return spec;
    }

    /// A job that has ended with one checkpoint; its id.
    std::string trained_job(const Json& spec = training()) {
        const std::string id = store_job(spec);
        add_host();
        const store::AttemptKey key = place(id);
        store::RelayedFrame frame{.number = 1,
                                  .checkpoint = store::RelayedCheckpoint{.id = checkpoint,
                                                                         .name = "step_1",
                                                                         .step = 1,
                                                                         .kinds = {"last"},
                                                                         .files = "[]",
                                                                         .bytes = 1}};
        relay_frames(store, key, {frame});
        finish_attempt(store, key, {.exit_kind = "failed", .job_state = JobState::failed});
        return id;
    }

    Decoded<CheckedJob> checked(JobKind kind, const Json& body,
                                std::vector<std::string> projects = {}) {
        const JobKindRow& row = row_of(kind);
        return row.check(row.decode({.value = body, .duplicates = {}}),
                         {.token_id = "tok_test", .projects = std::move(projects)}, store);
    }

    /// The pointers of the problems, in their order.
    std::vector<std::string> problems(JobKind kind, const Json& body,
                                      std::vector<std::string> projects = {}) {
        std::vector<std::string> pointers;
        for (const Problem& one : checked(kind, body, std::move(projects)).problems)
            pointers.push_back(one.pointer);
        return pointers;
    }

    std::string store_job(const Json& body, JobKind kind = JobKind::train) {
        Decoded<CheckedJob> job = checked(kind, body);
        EXPECT_TRUE(job.ok()) << joined_messages(job.problems);
        return submission::submit(
                   store, {.queued = queued, .jobs_max = 0},
                   {.jobs = {std::move(job.value)}, .token_id = "tok_test"},
                   [](std::span<const store::Job>) { return store::StoredResponse{}; })
            .jobs.at(0)
            .id;
    }

    const std::string checkpoint = new_id("ckp");
    QueuedJobs queued{store, system_clock()};
};

}    // namespace slipway::submission
