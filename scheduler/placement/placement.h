#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"

namespace slipway {

/// One virtual core, as placement sees it.
struct CoreSlot {
    std::string host;
    int core = 1;    ///< 1 to 8
    bool drained = false;
    bool alive = true;                     ///< its host sends heartbeats
    std::string held_by;                   ///< job id; empty: free
    std::int64_t host_memory_bytes = 0;    ///< of all jobs of its host together; 0: no limit
    std::optional<std::int64_t> held_memory_bytes = {};    ///< as WaitingJob::memory_bytes
};

/// One waiting job.
struct WaitingJob {
    std::string job_id;
    int class_rank = 2;            ///< of its class: the lower goes first
    Instant queued_at{};           ///< its age: the earlier goes first
    int cores = 1;                 ///< 1 to 8, all of one host
    std::optional<int> core_id;    ///< only this core
    /// What counts for it: what it asks for, rounded up by at most a quarter, so that there are few
    /// shapes of jobs. None: the share of its cores.
    std::optional<std::int64_t> memory_bytes = {};
    bool due = true;       ///< start_after or back-off has passed
    std::string due_at;    ///< for the reason: RFC 3339, when not due
    std::string dataset_state = "ready";
};

/// A decision: this job starts there.
struct PlacedJob {
    std::string job_id;
    std::string host;
    std::vector<int> cores;    ///< ascending
    bool operator==(const PlacedJob&) const = default;
};

/// Why a job waits. Codes: waiting_for_cores, waiting_for_memory, core_busy, core_drained,
/// host_lost, behind, waiting_for_dataset, start_after, no_such_core.
struct WaitReason {
    std::string job_id;
    std::string code;
    std::string message;              ///< one sentence for a person, with the numbers
    std::vector<int> cores;           ///< the cores it waits for, when there are some
    std::string blocking_job = {};    ///< the job that holds them or goes first; may be empty
    bool operator==(const WaitReason&) const = default;
};

/// What one pass decides on: the queue in its order (goes_before), and every core.
struct Snapshot {
    std::vector<WaitingJob> queue;
    std::vector<CoreSlot> cores;
};

/// Each job of the queue starts or waits. A policy that preempts or that backfills before a
/// reservation adds its decisions here.
struct Plan {
    std::vector<PlacedJob> start;
    std::vector<WaitReason> waiting;    ///< one for each job that does not start, in queue order
};

/// The order of the queue: class, then age, then id. The queries of the store have the same.
bool goes_before(const WaitingJob& a, const WaitingJob& b);

/// Who starts now, and why the others do not. Pure: the same snapshot gives the same plan.
///
/// The rule, in the queue's order: a job takes what it needs when that is free, one core the lowest
/// free one of the fullest host, several cores those of the host with just enough left. A job that
/// could start but for running jobs reserves what it waits for, and no younger job takes it: a core
/// by number reserves that core, a job of several cores reserves the undrained cores of the host
/// where the fewest jobs are in its way. So no job waits for ever; the price is that cores may idle
/// while an 8-core job waits for the last one. The memory of a host is counted likewise: the limits
/// of the jobs that run there and of the one that starts, each what it asks for or the share of its
/// cores, are never more than the host has for jobs. A job that waits for memory reserves the cores
/// of its host, since only jobs that end give memory back. A job that waits for something else (a
/// drained core, its dataset, a time) reserves nothing.
Plan make_plan(const Snapshot& snapshot);

/// Why `job` waits, by the same plan; nothing when it starts. A job that the snapshot does not
/// hold (held, or behind all that a pass reads) is put at its place in the queue.
std::optional<WaitReason> explain(Snapshot snapshot, const WaitingJob& job);

}    // namespace slipway
