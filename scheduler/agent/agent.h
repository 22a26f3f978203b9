#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/spec/dataset_root.h"
#include "scheduler/artifacts/artifact_store.h"
#include "scheduler/launcher/launcher.h"
#include "scheduler/store/store.h"

namespace slipway {

struct AgentOptions {
    std::string host;    ///< this machine's name in the database
    std::string pool = "local";
    int cores = 8;            ///< virtual cores it offers
    int machine_hosts = 1;    ///< that this machine is: they share its CPUs and its home folder
    /// This host's number among them: others have their records elsewhere and collect no garbage
    /// that all share.
    int machine_host = 1;
    std::string slice_address = "127.0.0.1";    ///< of this host, for members of slices
    /// sha256 of the token that it joins with, if it is new or was removed; empty: none.
    std::string join_token;
    std::filesystem::path home;        ///< that artifacts are in
    std::filesystem::path executor;    ///< the slipway-executor to start
    /// What a dataset's {"path": …} may lie below, in the order they are tried.
    std::vector<DatasetRoot> dataset_roots;
    std::shared_ptr<const Launcher> launcher;    ///< runs executors; not null
    /// What all jobs of this machine may use together; 0: no limit.
    std::int64_t memory_bytes = 0;
    /// Run folders that are made ahead: for a launcher that starts an executor within milliseconds.
    std::size_t spare_run_folders = 0;
    /// Of the copies of decoded datasets that executors of this host share; 0: each has its own.
    std::int64_t decoded_bytes_max = std::int64_t{32} << 30;
    std::int64_t check_memory_bytes = std::int64_t{4} << 30;    ///< of a check, a split, an export
    /// What one attempt may report in frames, stored or not: its events and points cost the
    /// database several times as much. 0: no limit.
    std::int64_t frames_bytes_max = std::int64_t{1} << 30;
    std::int64_t metric_names_max = 1000;        ///< that a job may have points of; 0: no limit
    std::chrono::seconds check_cpu_max{1200};    ///< of all its threads

    std::chrono::milliseconds lease{10000};
    std::chrono::milliseconds renew_every{2500};
    std::chrono::milliseconds poll_every{250};    ///< of the database, woken or not
    /// What an attempt reports is stored as often when nobody follows it; else ten times a second.
    std::chrono::milliseconds store_every{500};
    std::chrono::milliseconds heartbeat_every{1000};
    std::chrono::milliseconds silence_max{10000};    ///< then a silent executor is killed
    std::chrono::milliseconds start_max{20000};      ///< until the first word of a new executor
    std::chrono::milliseconds stop_save{60000};      ///< from a request to SIGTERM: it saves
    std::chrono::milliseconds exit_max{10000};       ///< from the last frame to SIGTERM
    std::chrono::milliseconds stop_term{5000};       ///< from SIGTERM to SIGKILL
    std::chrono::milliseconds check_max{600000};     ///< of one dataset check
    std::chrono::seconds grace{60};                  ///< an executor without an agent ends itself
    std::chrono::hours keep_run_folders{24};         ///< of attempts that have ended
    std::chrono::hours keep_unused_copies{24};       ///< of decoded datasets

    /// Called when cores became free or a job went back to the queue; from the agent's threads.
    std::function<void()> on_freed;

    ArtifactStore artifacts() const { return ArtifactStore(home); }
};

/// What the agent is doing and has done; for /metrics and /hosts.
struct AgentCounts {
    std::int64_t running = 0;    ///< attempts with a process
    std::int64_t started = 0;
    std::int64_t adopted = 0;
    std::int64_t finished = 0;
    std::int64_t crashed = 0;
    std::int64_t unresponsive = 0;    ///< killed because they said nothing for too long
    std::int64_t frames_relayed = 0;
    std::int64_t metric_points_skipped = 0;    ///< of metrics above metric_names_max
    std::int64_t failed_calls = 0;             ///< to the database
    std::int64_t checks_running = 0;
    double database_lag_s = 0;    ///< since the database last answered
};

/// Of several agents together; of the lag the longest.
AgentCounts sum_of(const AgentCounts& a, const AgentCounts& b);

/// Runs this host's attempts: starts executors, takes over those that still run after a restart of
/// the service, sends heartbeats, stores what they report, stops them, checks datasets, removes
/// garbage.
///
/// Threads: one watches processes and sockets and never waits for the database; one talks to the
/// database, with helpers that wait for it side by side; one removes garbage. A stopped database
/// therefore stops no executor: what it says stays in its run folder and is stored later. A slow
/// disk delays no lease.
class Agent {
public:
    /// Starts the threads. `store` and `clock` outlive the agent. Executors are not ended by the
    /// destructor: the next agent takes them over.
    /// errors  throws invalid_argument when the executor program cannot be run
    Agent(store::Store& store, AgentOptions options, const Clock& clock);
    ~Agent();
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    /// There may be something to start or to stop: looks now. Safe from every thread.
    void wake();
    /// As wake(), when attempts alone can have changed: no other work is looked for.
    void wake_for_attempts();
    AgentCounts counts() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway
