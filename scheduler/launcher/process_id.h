#pragma once

#include <sys/types.h>

#include <cstdint>

namespace slipway {

/// Names one process for as long as the machine runs: pids come again, pairs do not. What keeps it
/// (the database, a record) only gives it back to the launcher that made it.
struct ProcessId {
    pid_t pid = 0;
    std::int64_t start_ticks = 0;
    bool operator==(const ProcessId&) const = default;
};

}    // namespace slipway
