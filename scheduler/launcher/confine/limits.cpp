#include "scheduler/launcher/confine/limits.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "api/base/error.h"

namespace slipway {

namespace {

constexpr std::int64_t cpu_seconds_between_signals = 5;
// The kernel's own default. It is read whenever a stack grows, so the hard limit counts.
constexpr rlim_t stack_bytes_max = 8 << 20;
constexpr rlim_t open_files_max = 4096;

struct LimitRow {
    const char* name;
    __rlimit_resource resource;
    std::int64_t ResourceLimits::*value;
    std::int64_t slack;    // between the soft limit and the hard one
};

constexpr std::array rows{
    LimitRow{"size of a file", RLIMIT_FSIZE, &ResourceLimits::file_bytes, 0},
    LimitRow{"CPU time", RLIMIT_CPU, &ResourceLimits::cpu_seconds, cpu_seconds_between_signals},
    LimitRow{"processes", RLIMIT_NPROC, &ResourceLimits::processes, 0},
};

void set_limit(const char* name, __rlimit_resource resource, rlim_t soft, rlim_t hard) {
    rlimit wanted{soft, hard};
    if (setrlimit(resource, &wanted) == 0) return;
    throw Error{ErrorCode::unavailable,
                fmt::format("the limit of {} cannot be set: {}", name, std::strerror(errno))};
}

void lower_limit(const char* name, __rlimit_resource resource, rlim_t most) {
    rlimit now{};
    getrlimit(resource, &now);
    set_limit(name, resource, std::min(now.rlim_cur, most), std::min(now.rlim_max, most));
}

}    // namespace

void set_limits(const ResourceLimits& limits) {
    // Before any rule about files: afterwards /proc can no longer be written.
    std::ofstream("/proc/self/oom_score_adj") << 500;
    set_limit("core dumps", RLIMIT_CORE, 0, 0);
    lower_limit("the stack", RLIMIT_STACK, stack_bytes_max);
    lower_limit("open files", RLIMIT_NOFILE, open_files_max);
    for (const LimitRow& row : rows) {
        const std::int64_t value = limits.*row.value;
        if (value > 0) set_limit(row.name, row.resource, rlim_t(value), rlim_t(value + row.slack));
    }
}

void set_memory_limit(const ResourceLimits& limits) {
    const auto bytes = rlim_t(limits.memory_bytes);
    if (bytes == 0) return;
    const rlim_t addresses = bytes + rlim_t(mapped_bytes_max);
    set_limit("memory", RLIMIT_DATA, bytes, bytes);
    set_limit("address space", RLIMIT_AS, addresses, addresses);
}

}    // namespace slipway
