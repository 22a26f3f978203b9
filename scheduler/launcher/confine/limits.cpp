#include "scheduler/launcher/confine/limits.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "api/base/error.h"

namespace slipway {

namespace {

constexpr std::int64_t cpu_seconds_between_signals = 5;

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

}    // namespace

void set_limits(const ResourceLimits& limits) {
    // Before any rule about files: afterwards /proc can no longer be written.
    std::ofstream("/proc/self/oom_score_adj") << 500;
    set_limit("core dumps", RLIMIT_CORE, 0, 0);
    for (const LimitRow& row : rows) {
        const std::int64_t value = limits.*row.value;
        if (value > 0) set_limit(row.name, row.resource, rlim_t(value), rlim_t(value + row.slack));
    }
}

void set_memory_limit(const ResourceLimits& limits) {
    const auto bytes = rlim_t(limits.memory_bytes);
    if (bytes > 0) set_limit("memory", RLIMIT_DATA, bytes, bytes);
}

}    // namespace slipway
