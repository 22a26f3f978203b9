#pragma once

#include <cstdint>

#include "api/base/posix.h"

/// Memory that the members of a slice share where all of them run on one machine: whoever starts
/// them makes it and lets each inherit it. It has no name, so it is gone with the last of them.
namespace slipway {

/// Environment variable: the descriptor of the memory that a process has inherited.
inline constexpr const char* slice_memory_variable = "SLIPWAY_SLICE_MEMORY";

/// Memory for so many members, 8 MiB each, which its size cannot leave. What is not written takes
/// nothing.
/// errors  unavailable, exhausted where the system gives none
UniqueFd make_slice_memory(int members);

}    // namespace slipway
