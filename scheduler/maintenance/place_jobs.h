#pragma once

#include <chrono>
#include <cstdint>

#include "scheduler/maintenance/ready_memory.h"
#include "scheduler/maintenance/refused_memory.h"
#include "scheduler/maintenance/wait_memory.h"
#include "scheduler/maintenance/warm_memory.h"
#include "scheduler/store/store.h"

namespace slipway {

/// What one pass of placement did.
struct PlaceCounts {
    std::int64_t placed = 0;
    std::int64_t lost_races = 0;    ///< decided, but the database had changed meanwhile
    std::int64_t preempted = 0;     ///< asked to give their cores up
    std::int64_t waiting = 0;       ///< of those that were looked at
    bool more_are_due = false;      ///< start times have come that this pass did not reach
};

/// What a pass knows of those before it; a new leader knows nothing.
struct PlaceMemory {
    WaitMemory waits{};
    WarmMemory warm{};
    ReadyMemory ready{};
    RefusedMemory refused{};
};

/// Places what can be placed now and commits it, with the decision of each start; records who is
/// preempted and, with a `memory` of the passes before, who waits. Its cost depends on the number
/// of cores, not on the length of the queue. errors  throws unavailable, LeaderReplaced
PlaceCounts place_jobs(store::Store& store, std::chrono::milliseconds lease,
                       std::chrono::milliseconds host_silence_max,
                       const store::LeaderTerm& term = {}, PlaceMemory* memory = nullptr);

}    // namespace slipway
