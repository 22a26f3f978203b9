#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "scheduler/store/store.h"

namespace slipway {

/// Ends attempts whose lease ran out, but only when this process has had the database for one lease
/// without a break: else it is not their silence but ours. Those of the own host, too, whose agent
/// may hang while this process lives: after two leases, so that an agent that has just started
/// takes over what still runs. Returns how many.
/// errors  throws unavailable, LeaderReplaced
std::int64_t rescue_attempts(store::Store& store, const std::string& own_host,
                             std::chrono::milliseconds lease, const store::LeaderTerm& term = {});

}    // namespace slipway
