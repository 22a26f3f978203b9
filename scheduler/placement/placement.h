#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/placement/snapshot.h"

namespace slipway {

/// A decision: this job starts there.
struct PlacedJob {
    std::string job_id;
    std::string host;
    std::vector<int> cores;    ///< of each of its hosts, ascending
    /// Backfill: these cores are kept for that job, which is ahead and starts later. Or empty.
    std::string ahead_of = {};
    std::vector<std::string> other_hosts = {};    ///< of a slice, by rank from 1 on
    bool operator==(const PlacedJob&) const = default;
};

/// A decision: this running job saves, gives its cores to the other one and waits again.
struct PreemptedJob {
    std::string job_id;
    std::string for_job;
    bool operator==(const PreemptedJob&) const = default;
};

/// Why a job waits. Codes: waiting_for_cores, waiting_for_memory, core_busy, core_drained,
/// host_drained, host_lost, behind, preempting, quota, group_limit, waiting_for_dataset,
/// start_after, no_such_core, no_such_pool.
struct WaitReason {
    std::string job_id;
    std::string code;
    std::string message;              ///< one sentence for a person, with the numbers
    std::vector<int> cores;           ///< the cores it waits for, when there are some
    std::string blocking_job = {};    ///< the job that holds them or goes first; may be empty
    bool operator==(const WaitReason&) const = default;
};

/// Each job of the queue starts or waits.
struct Plan {
    std::vector<PlacedJob> start;
    std::vector<PreemptedJob> preempt = {};
    std::vector<WaitReason> waiting = {};    ///< one for each job that does not start, in order
};

/// A job that runs into its limit is given time to save: what is reserved may not be lent to it for
/// less.
inline constexpr std::chrono::seconds backfill_margin{90};

/// Who starts now, who gives way, and why the others wait. Pure: the same snapshot gives the same
/// plan.
///
/// The rule, in fair order (fair_share.h): a job takes what it needs when that is free, one core
/// the lowest free one of the fullest host, several cores those of the host with just enough left;
/// of hosts that are equal in that, the one where a job of its project has begun with its dataset
/// last (Snapshot::warm), then the first by name.
/// A job that could start but for running jobs reserves what it waits for, and no job behind it
/// takes that: a core by number reserves that core, a job of several cores reserves the undrained
/// cores of the host where the fewest jobs are in its way. So no job waits for ever. Two things
/// keep reserved cores from idling. Backfill: where the limits of all jobs in the way say when the
/// last of them has ended, a job behind whose own limit is over before then (and backfill_margin)
/// runs there meanwhile. Preemption: jobs of a lower class that are preemptible give way, as few as
/// do, those of the lowest class and among them those that started last; nobody is asked while
/// those who end already leave enough.
///
/// A job that names a pool takes, waits for and reserves cores of its hosts alone, and has nobody
/// give way elsewhere: a full pool stops nobody in another one.
///
/// A slice takes so many whole hosts of one pool, all or none: of those that are free the ones that
/// are nearest to each other by name. While it waits it reserves the hosts with the fewest jobs in
/// its way, as a job of eight cores does one, until the last of them has ended; jobs of a lower
/// class give way when that frees all its hosts.
///
/// The memory of a host is counted likewise: the limits of the jobs that run there and of the one
/// that starts, each what it asks for or the share of its cores, are never more than the host has
/// for jobs. A job that waits for memory reserves the cores of its host, since only jobs that end
/// give memory back; nobody is preempted for memory. A job that waits for something else (a drained
/// core, its dataset, a time, its project's quota, its group) reserves nothing.
///
/// Of a group as many jobs run or wait for cores as its limit says: the first in fair order have
/// the places. One that waits for running jobs keeps its place, so that no younger job of its group
/// overtakes it again and again; one that waits for an operator or a quota does not.
Plan make_plan(const Snapshot& snapshot);

/// Why `job` waits, by the same plan; nothing when it starts. A job that the snapshot does not hold
/// (held, or behind all that a pass reads) is put at its place in the queue.
std::optional<WaitReason> explain(Snapshot snapshot, const WaitingJob& job);

}    // namespace slipway
