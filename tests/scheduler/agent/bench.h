#pragma once

#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "api/base/json.h"
#include "scheduler/agent/agent.h"
#include "scheduler/agent/process_records.h"
#include "scheduler/agent/run_folder.h"
#include "scheduler/launcher/local_launcher.h"
#include "scheduler/launcher/process.h"
#include "scheduler/store/attempts.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/events.h"
#include "tests/scheduler/store/samples.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {

/// What an executor says of itself in process.json, which nothing but tests may believe.
inline std::optional<ProcessRecord> read_process_record(const std::filesystem::path& run) {
    const auto text = read_at_most(run / "process.json", 4096);
    const Json said = Json::parse(text.value_or(""), nullptr, false);
    if (!said.is_object()) return std::nullopt;
    return ProcessRecord{.id = {.pid = said.at("pid"), .start_ticks = said.at("start_ticks")},
                         .fence = said.at("fence")};
}

/// A real database, a real agent and executors that do what a job's labels say
/// (fake/fake_executor.cpp). Times are short, so that a test is.
class AgentBench : public store::StoreTest {
protected:
    using Labels = std::map<std::string, std::string>;

    void SetUp() override {
        options.host = host;
        options.home = folder.path();
        options.executor = std::filesystem::path(SLIPWAY_BIN_DIR) / "fake_executor";
        if (!options.launcher)
            options.launcher = std::make_shared<LocalLauncher>(LauncherOptions{});
        options.dataset_roots = {{.path = folder.path() / "data"}};
        options.renew_every = std::chrono::milliseconds(100);
        options.poll_every = std::chrono::milliseconds(50);
        options.heartbeat_every = std::chrono::milliseconds(50);
        std::filesystem::create_directories(folder.path() / "data" / "digits");
        add_host();
        store::create_dataset(store, dataset("digits", "{}"));
        const auto claim = store::claim_dataset_check(store, host, std::chrono::seconds(60));
        ASSERT_TRUE(claim);
        store::finish_dataset_check(
            store, claim->dataset.id, claim->fence,
            {.ready = true, .report = "{}", .problems = {}, .content_hash = "sha256:ab"});
    }

    /// Whatever a test leaves running ends with it.
    void TearDown() override {
        agent.reset();
        std::error_code absent;
        for (const auto& job :
             std::filesystem::directory_iterator(folder.path() / "runs", absent)) {
            for (const auto& run : std::filesystem::directory_iterator(job.path())) {
                const auto record = read_process_record(run.path());
                if (!record) continue;
                for (const pid_t pid : session_members(record->id.pid))
                    ::kill(pid, SIGKILL);
            }
        }
    }

    static store::NewDataset dataset(const std::string& name, const std::string& dataset_options) {
        return {.id = new_id("ds"),
                .name = name,
                .format = "idx",
                .source = R"({"path": "digits"})",
                .options = dataset_options,
                .created_by = "tok_test"};
    }

    void start_agent() { agent = std::make_unique<Agent>(store, options, system_clock()); }

    std::string submit_labelled(const Labels& labels, const Json& limits = Json::object()) {
        store::NewJob job = new_job();
        job.spec = Json{{"labels", labels}, {"limits", limits}}.dump();
        job.dataset_id = store::find_dataset(store, "default", "digits")->id;
        return submit(job);
    }

    /// A job that has its cores, with the agent told about it.
    store::AttemptKey run_job(const Labels& labels, const Json& limits = Json::object()) {
        const store::AttemptKey key = place(submit_labelled(labels, limits));
        if (agent) agent->wake();
        return key;
    }

    /// Of the launcher of this machine.
    static std::string id_scope() { return LocalLauncher(LauncherOptions{}).id_scope(); }

    bool reaches(const std::string& job_id, JobState state) {
        return eventually([&] { return state_of(job_id) == state; });
    }

    std::int64_t points(const std::string& job_id) const {
        return count("metric_chunk cross join lateral generate_series(1, points) where job_id = '" +
                     job_id + "'");
    }

    bool trains(const std::string& job_id, std::int64_t least_points = 3) {
        return eventually([&] { return points(job_id) >= least_points; });
    }

    std::optional<ProcessRecord> process_of(const store::AttemptKey& key) const {
        return read_process_record(run_folder_of(key));
    }

    /// No process of the attempt is left.
    bool is_gone(const store::AttemptKey& key) const {
        const auto record = process_of(key);
        return !record || session_members(record->id.pid).empty();
    }

    std::filesystem::path run_folder_of(const store::AttemptKey& key) const {
        return options.artifacts().locate(Artifact::run, key.job_id, std::to_string(key.attempt));
    }

    store::Attempt attempt_of(const store::AttemptKey& key) {
        return store::list_attempts(store, key.job_id).items.at(std::size_t(key.attempt - 1));
    }

    /// Every metric point and every event exactly once: steps 1 to `steps`, sequence without gaps.
    void expect_complete(const std::string& job_id, int steps) {
        EXPECT_EQ(points(job_id), steps);
        std::int64_t step = 0;
        const store::CurveSize all{.buckets_max = steps + 1, .points_max = steps + 1};
        const std::string metric = store::list_metric_names(store, job_id, 1).at(0);
        for (const auto& bucket : store::read_curve(store, job_id, metric, {}, all).buckets)
            EXPECT_EQ(bucket.last.step, ++step);
        const auto events = store::list_events(store, job_id, {.limit = 5000});
        std::int64_t expected = 0;
        for (const store::Event& event : events)
            EXPECT_EQ(event.seq, ++expected);
    }

    TempFolder folder;
    AgentOptions options;
    std::unique_ptr<Agent> agent;
};

}    // namespace slipway
