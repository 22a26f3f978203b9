#pragma once

#include <string>

#include "scheduler/agent/agent.h"
#include "scheduler/store/hosts.h"

namespace slipway {

/// What this machine offers, as register_host() takes it; makes the id of its home folder when it
/// has none.
store::Host this_host(const AgentOptions& options, const std::string& instance);

}    // namespace slipway
