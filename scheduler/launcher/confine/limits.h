#pragma once

#include <cstdint>

namespace slipway {

/// What one process may use. 0: no limit. Limits that only the whole machine could keep (disk,
/// bandwidth) are not here.
struct ResourceLimits {
    /// Private memory: heap, stacks of threads and anonymous mappings (RLIMIT_DATA). What it does
    /// not count: shared anonymous memory and mappings that grow down, which the filter of system
    /// calls refuses; the first thread's stack, at most 8 MiB; mapped files, whose pages the kernel
    /// drops when it needs room; and memory that was written and then made read-only, which only
    /// hostile code has much of: who watches the process ends it uncounted_bytes_max above this.
    /// All address space together has this and mapped_bytes_max (RLIMIT_AS).
    std::int64_t memory_bytes = 0;
    std::int64_t file_bytes = 0;     ///< of one file
    std::int64_t cpu_seconds = 0;    ///< of all threads together; then SIGXCPU, then SIGKILL
    std::int64_t processes =
        0;    ///< processes and threads of its user; only for a user of its own
};

/// What an honest process may hold beyond memory_bytes: relocated libraries and compiled code,
/// which are read-only; the first stack; and in a cgroup the kernel's tables of 64 GiB that are
/// mapped.
constexpr std::int64_t uncounted_bytes_max = std::int64_t{256} << 20;

/// Address space beyond memory_bytes: packed images of a project, 64 GiB, are mapped; the C library
/// reserves 64 MiB for each thread that allocates; programs and libraries.
constexpr std::int64_t mapped_bytes_max = std::int64_t{96} << 30;

/// Sets all but the limit of memory for this process and what it becomes; no core dumps; at most
/// 4,096 open files, since each pipe is memory; first to go when the machine's memory ends
/// (oom_score_adj 500).
/// errors  throws unavailable with the name of the limit and the system's reason
void set_limits(const ResourceLimits& limits);

/// Last of all: what this process itself still needs is not the executor's.
/// errors  throws unavailable
void set_memory_limit(const ResourceLimits& limits);

}    // namespace slipway
