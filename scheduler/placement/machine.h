#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/placement/snapshot.h"

// The cores as one pass sees them: each decision is entered at once.
namespace slipway {

struct Slot {
    CoreSlot core;
    std::string reserved_by = {};    ///< a waiting job that is ahead; empty: nobody
    /// Whoever has ended by then may run here; none: nobody may.
    std::optional<Instant> lent_until = {};

    bool drained() const { return core.drained || core.host_drained; }
    bool usable() const { return core.alive && !drained(); }
};

/// The cores of one host, by number.
using HostSlots = std::vector<Slot>;
using Machine = std::map<std::string, HostSlots>;
using RunningJobs = std::map<std::string, RunningJob>;

Machine machine_of(const std::vector<CoreSlot>& cores);

/// The job may run on the host, whatever is free there.
bool is_in_pool(const WaitingJob& job, const HostSlots& slots);
/// The pools of the hosts, by name, each once.
std::set<std::string> pools_of(const Machine& machine);

/// The job may have the slot now: nobody holds it, and nobody ahead needs it before the job's limit
/// is over.
bool is_free_for(const WaitingJob& job, const Slot& slot, Instant now);
std::int64_t count_free(const WaitingJob& job, const HostSlots& slots, Instant now);

/// Of all jobs of a host together; 0: no limit.
std::int64_t memory_of(const HostSlots& slots);
/// What the jobs that run there may use.
std::int64_t held_memory(const HostSlots& slots);
/// What counts for a job on so many cores of the host; never more than all, as its limit is not.
std::int64_t limit_of(std::optional<std::int64_t> counted, int cores, const HostSlots& slots);
/// Whether the memory of the host is enough, were no other job there. What counts is at most a
/// quarter more than what was asked for.
bool has_ever_memory(const WaitingJob& job, const HostSlots& slots);
/// Whether the limits of all leave room for the job's.
bool has_memory(const WaitingJob& job, const HostSlots& slots);

}    // namespace slipway
