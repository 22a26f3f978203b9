#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/store/attempts.h"

namespace slipway {

/// Which attempts count as lost, for a process that has had the database for `connected_for`
/// without a break (none: it has not). None before one lease: until then it is not their silence
/// but ours. Those of the own host, too, whose agent may hang while this process lives: after two
/// leases, so that an agent that has just started takes over what still runs. Pure.
std::optional<store::RescueRule> rescue_rule(std::optional<std::chrono::milliseconds> connected_for,
                                             const std::string& own_host,
                                             std::chrono::milliseconds lease);

/// Ends attempts whose lease ran out, by rescue_rule. Returns how many.
/// errors  throws unavailable, LeaderReplaced
std::int64_t rescue_attempts(store::Store& store, const std::string& own_host,
                             std::chrono::milliseconds lease, const store::LeaderTerm& term = {});

}    // namespace slipway
