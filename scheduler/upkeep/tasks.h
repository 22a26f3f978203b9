#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "scheduler/placement/placement.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/queue.h"

namespace slipway {

/// What one pass of placement did.
struct ScheduleCounts {
    std::int64_t placed = 0;
    std::int64_t lost_races = 0;    ///< decided, but the database had changed meanwhile
    std::int64_t waiting = 0;       ///< of those that were looked at
    bool more_are_due = false;      ///< start times have come that this pass did not reach
};

/// The stored queue and cores in the words of placement; for explain too. Pure.
std::vector<WaitingJob> to_waiting_jobs(const std::vector<store::QueuedJob>& queue);
std::vector<CoreSlot> to_core_slots(const std::vector<store::Core>& cores);

/// Places what can be placed now and commits it. Its cost depends on the number of cores, not on
/// the length of the queue.
/// errors  throws unavailable
ScheduleCounts schedule(store::Store& store, std::chrono::milliseconds lease,
                        std::chrono::milliseconds host_silence_max,
                        const store::LeaderTerm& term = {});

/// Ends attempts whose lease ran out, but only when this process has had the database for one lease
/// without a break: else it is not their silence but ours. Those of the own host, too, whose agent
/// may hang while this process lives: after two leases, so that an agent that has just started
/// takes over what still runs. Returns how many.
/// errors  throws unavailable, LeaderReplaced
std::int64_t rescue_lost_attempts(store::Store& store, const std::string& own_host,
                                  std::chrono::milliseconds lease,
                                  const store::LeaderTerm& term = {});

/// Why a queued job waits, however far behind; nothing when the next pass will place it.
/// errors  throws unavailable
std::optional<WaitReason> explain_wait(store::Store& store, const std::string& job_id,
                                       std::chrono::milliseconds host_silence_max);

}    // namespace slipway
