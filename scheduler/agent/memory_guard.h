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

/// Keeps one process within its memory, or finds that its cgroup did. One thread.
class MemoryGuard {
public:
    MemoryGuard() = default;
    explicit MemoryGuard(MemoryLimit limit);

    /// Whether what the process uses must be read, since no cgroup counts it.
    bool reads() const { return limit_.bytes > 0 && limit_.cgroup.empty(); }
    /// Reads it. True: the process is above its limit.
    bool is_exceeded(const ProcessId& process);
    /// Whether the process, which has ended, did so for its memory. `machine`: the kernel may have
    /// ended it because the machine's memory was used up.
    std::optional<MemoryEnd> end(EndCause cause, bool machine) const;
    /// Nothing lives in it.
    void remove_cgroup() const;

private:
    MemoryLimit limit_;
    std::int64_t kills_before_ = 0;    // a cgroup may be used again
    std::int64_t used_bytes_ = 0;
};

/// A sentence for a person, with the numbers and what to do.
std::string describe(const MemoryEnd& end);

}    // namespace slipway
