#pragma once

#include <string>

#include "scheduler/agent/supervisor.h"

namespace slipway {

/// How often the system of a process' host has ended programs for want of memory, lately.
class HostMemoryKills {
public:
    /// `process` outlives this.
    explicit HostMemoryKills(const LaunchedProcess& process) : process_(process) {}

    void read(Tick now);
    /// Whether it has since a reading of at most twenty seconds ago. Reads once more.
    bool have_risen() const;

private:
    const LaunchedProcess& process_;
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
    /// Notes what the host's system does; from time to time.
    void read_host(Tick now) { host_kills_.read(now); }
    /// Whether the process, which has ended, did so for its memory. `by_others`: it was killed, and
    /// not by us, so its host may have done it because the host's memory was used up.
    std::optional<MemoryEnd> end(EndCause cause, bool by_others) const;

private:
    const LaunchedProcess& process_;
    const std::int64_t limit_bytes_;
    HostMemoryKills host_kills_{process_};
    std::int64_t used_bytes_ = 0;
};

/// A sentence for a person, with the numbers and what to do.
std::string describe(const MemoryEnd& end);

}    // namespace slipway
