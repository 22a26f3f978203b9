#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "api/base/clock.h"

namespace slipway {

// What one pass of the scheduler decides on, as plain data.

/// One virtual core.
struct CoreSlot {
    std::string host;
    std::string pool = {};    ///< of its host
    int core = 1;             ///< 1 to 8
    bool drained = false;
    std::string core_drain_reason = {};    ///< why the service has drained it; may be empty
    bool host_drained = false;             ///< all cores of its host are, whatever each of them is
    std::string drain_reason = {};         ///< of the host, from who drained it; may be empty
    bool alive = true;                     ///< its host sends heartbeats
    std::string held_by;                   ///< job id; empty: free
    std::int64_t host_memory_bytes = 0;    ///< of all jobs of its host together; 0: no limit
    std::optional<std::int64_t> held_memory_bytes = {};    ///< as WaitingJob::memory_bytes
};

/// Cores of each host of a slice: a job of more cores has whole hosts of so many.
inline constexpr int slice_host_cores = 8;

/// One waiting job.
struct WaitingJob {
    std::string job_id;
    int class_rank = 2;            ///< of its class: the lower goes first
    Instant queued_at{};           ///< its age: the earlier goes first
    int cores = 1;                 ///< 1 to 8, all of one host; of a slice 16, 24 …
    std::optional<int> core_id;    ///< only this core
    /// What counts for it: what it asks for, rounded up by at most a quarter, so that there are few
    /// shapes of jobs. None: the share of its cores.
    std::optional<std::int64_t> memory_bytes = {};
    bool due = true;       ///< start_after or back-off has passed
    std::string due_at;    ///< for the reason: RFC 3339, when not due
    std::string dataset_state = "ready";
    std::string project = {};
    /// Its limits let it run for so long at most; none: no limit.
    std::optional<std::chrono::seconds> runs_at_most = {};
    std::string group = {};    ///< of its project; empty: none
    /// So many jobs of the group may run at a time; none: no limit.
    std::optional<int> group_limit = {};
    bool preemptible = false;    ///< once it runs; read where passes are simulated
    std::string dataset_id = {};
    std::string pool = {};    ///< runs on hosts of this pool only; empty: on any
    /// That could not start it: it runs there only when no other one ever could.
    std::set<std::string> avoided_hosts = {};
};

/// The order of the queue but for the shares of projects: by class, then by age.
inline bool is_ahead(const WaitingJob& a, const WaitingJob& b) {
    return std::tie(a.class_rank, a.queued_at, a.job_id) <
           std::tie(b.class_rank, b.queued_at, b.job_id);
}

/// A job that holds cores.
struct RunningJob {
    std::string job_id;
    std::string project = {};
    int class_rank = 2;
    int cores = 1;
    Instant started_at{};        ///< its attempt
    bool preemptible = false;    ///< it may be asked to give its cores to a job of a higher class
    bool ending = false;         ///< it has been asked to end or to give its cores up
    std::optional<Instant> ends_by = {};    ///< by its limits
    std::string group = {};                 ///< as WaitingJob's
    std::string pool = {};                  ///< likewise
};

/// What a project is entitled to and has had.
struct ProjectShare {
    std::string name;
    double weight = 1;                    ///< > 0
    double usage_core_s = 0;              ///< decayed core-seconds, running jobs included
    std::optional<int> cores_max = {};    ///< that its jobs may hold at a time; none: no quota
};

/// A host where a job of the project has begun with the dataset lately: a warm executor may wait
/// there, the decoded dataset and the compiled programs are on its disk.
struct WarmPlace {
    std::string project;
    std::string dataset_id;
    std::string host;
    Instant used_at{};    ///< the last time
    bool operator==(const WarmPlace&) const = default;
};

struct Snapshot {
    std::vector<WaitingJob> queue;    ///< in any order
    std::vector<CoreSlot> cores;
    std::vector<RunningJob> running = {};
    std::vector<ProjectShare> projects = {};    ///< one that is not here has the defaults
    std::vector<WarmPlace> warm = {};           ///< of the jobs of the queue; in any order
    Instant now{};                              ///< the database's
};

}    // namespace slipway
