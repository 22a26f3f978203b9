#pragma once

#include <cstdint>

#include "scheduler/launcher/process.h"

namespace slipway {

/// The memory that a process and its session keep from others: private and shared anonymous pages,
/// also those that are read-only by now, and what of them is swapped out. Pages of mapped files are
/// not counted: the kernel drops them when it needs room. Reads one small file; for a process that
/// can make others (no filter of system calls) those of its session, too. 0 when it is gone.
std::int64_t memory_use_bytes(const ProcessId& leader);

/// How many processes of this machine the kernel has ended because its memory was used up.
std::int64_t out_of_memory_kills_of_machine();

}    // namespace slipway
