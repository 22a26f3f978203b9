#pragma once

#include <cstdint>
#include <string>

#include "scheduler/agent/agent.h"

namespace slipway {

/// What an executor takes beside the memory of its program: libraries, compiler, stacks.
constexpr std::int64_t executor_overhead_bytes = std::int64_t{768} << 20;

/// The memory that an attempt on `cores` cores may use: accelerator.memory_bytes of its stored
/// spec, by default its share of what the machine gives to jobs, in no case more than all of that.
std::int64_t attempt_memory_bytes(const AgentOptions& options, const std::string& spec, int cores);

}    // namespace slipway
