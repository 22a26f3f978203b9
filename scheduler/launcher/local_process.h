#pragma once

#include <filesystem>

#include "scheduler/launcher/launcher.h"
#include "scheduler/launcher/process.h"

namespace slipway {

/// A process of this machine, in a cgroup of its own or in none.
class LocalProcess final : public LaunchedProcess {
public:
    /// `niceness`: how far it stands behind us; 0 to 19.
    LocalProcess(RunningProcess process, std::filesystem::path cgroup, int niceness);

    ProcessId id() const override { return process_.id; }
    int end_fd() const override { return process_.pidfd.get(); }
    void go_ahead() override;
    void stand_back() override;
    void terminate() override;
    void kill() override;
    std::optional<ProcessExit> collect_exit() override;
    bool is_cleared() override;
    bool keeps_memory_limit() const override { return !cgroup_.empty(); }
    std::int64_t read_memory_bytes() const override;
    bool exceeded_memory() const override;
    std::int64_t uncounted_memory_bytes() const override;
    std::int64_t count_host_memory_kills() const override;

private:
    const RunningProcess process_;
    const std::filesystem::path cgroup_;
    const int niceness_;
    const std::int64_t kills_before_;    // a cgroup may be used again
};

/// Sends SIGKILL to what is left of the session that the process began; true when nothing is left.
/// A pid that meanwhile belongs to another process is left alone.
/// errors  throws exhausted when they cannot be counted: we have no descriptor left
bool end_session(const ProcessId& leader);

}    // namespace slipway
