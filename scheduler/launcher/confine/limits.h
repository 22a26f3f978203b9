#pragma once

#include <cstdint>

namespace slipway {

/// What one process may use. 0: no limit. Limits that only the whole machine could keep (disk,
/// bandwidth) are not here.
struct ResourceLimits {
    /// Private memory: heap, stacks and anonymous mappings (RLIMIT_DATA). Shared anonymous memory,
    /// which it does not count, is refused by the filter of system calls. Mapped files are not
    /// counted: the kernel drops their pages when it needs room.
    std::int64_t memory_bytes = 0;
    std::int64_t file_bytes = 0;     ///< of one file
    std::int64_t cpu_seconds = 0;    ///< of all threads together; then SIGXCPU, then SIGKILL
    std::int64_t processes =
        0;    ///< processes and threads of its user; only for a user of its own
};

/// Sets all but the limit of memory for this process and what it becomes; no core dumps; first to
/// go when the machine's memory ends (oom_score_adj 500). errors  throws unavailable with the name
/// of the limit and the system's reason
void set_limits(const ResourceLimits& limits);

/// Last of all: what this process itself still needs is not the executor's.
/// errors  throws unavailable
void set_memory_limit(const ResourceLimits& limits);

}    // namespace slipway
