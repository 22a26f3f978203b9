#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "api/base/clock.h"
#include "scheduler/maintenance/lease_memory.h"

namespace slipway {

/// Ends attempts whose hosts are silent, as the memory of the passes before says. Returns how many.
/// errors  throws unavailable, LeaderReplaced
std::int64_t rescue_attempts(store::Store& store, const std::string& own_host,
                             std::chrono::milliseconds lease, LeaseMemory& memory, Tick now,
                             const store::LeaderTerm& term = {});

}    // namespace slipway
