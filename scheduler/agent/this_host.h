#pragma once

#include <chrono>
#include <string>

#include "scheduler/agent/agent.h"
#include "scheduler/store/hosts.h"

namespace slipway {

/// A host that has said nothing for longer no longer holds its name.
inline constexpr std::chrono::seconds host_silence_max{10};

/// What this machine offers, as register_host() takes it; makes the id of its home folder when it
/// has none.
store::Host this_host(const AgentOptions& options, const std::string& instance);

}    // namespace slipway
