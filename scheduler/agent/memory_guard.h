#pragma once

#include <string>

#include "scheduler/agent/supervisor.h"

namespace slipway {

/// How often the kernel has ended processes of this machine for want of memory, lately.
class MachineKills {
public:
    void read(Tick now);
    /// Whether it has since a reading of at most twenty seconds ago. Reads once more.
    bool have_risen() const;

private:
    std::int64_t before_ = -1;    // ten to twenty seconds ago; -1: not read
    std::int64_t since_ = -1;
    Tick turned_{};
};

/// Keeps one process within its memory, or finds that its launcher did. One thread.
class MemoryGuard {
public:
    /// `process` outlives this. `limit_bytes` 0: no limit.
    MemoryGuard(const LaunchedProcess& process, std::int64_t limit_bytes)
        : process_(process), limit_bytes_(limit_bytes) {}

    /// Whether what the process uses must be read, since its launcher keeps no limit.
    bool reads() const { return limit_bytes_ > 0 && !process_.keeps_memory_limit(); }
    /// Reads it. True: the process is above its limit.
    bool is_exceeded();
    /// Whether the process, which has ended, did so for its memory. `machine`: the kernel may have
    /// ended it because the machine's memory was used up.
    std::optional<MemoryEnd> end(EndCause cause, bool machine) const;

private:
    const LaunchedProcess& process_;
    const std::int64_t limit_bytes_;
    std::int64_t used_bytes_ = 0;
};

/// A sentence for a person, with the numbers and what to do.
std::string describe(const MemoryEnd& end);

}    // namespace slipway
