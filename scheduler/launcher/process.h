#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/base/posix.h"
#include "scheduler/launcher/confinement.h"

namespace slipway {

/// Names one process for as long as the machine runs: pids come again, pairs do not.
struct ProcessId {
    pid_t pid = 0;
    std::int64_t start_ticks = 0;
    bool operator==(const ProcessId&) const = default;
};

/// A process that leads a session and process group of its own.
struct RunningProcess {
    ProcessId id;
    UniqueFd pidfd;        ///< readable once it has ended
    bool child = false;    ///< ours to reap; an adopted one is not
};

struct SpawnRequest {
    std::filesystem::path program;
    std::vector<std::string> arguments;    ///< without the program's name
    std::filesystem::path folder;          ///< its working folder
    std::filesystem::path output;          ///< gets stderr, and stdout unless `result` is given
    std::filesystem::path result;          ///< gets stdout; or empty
    int lock_fd = -1;    ///< becomes its descriptor 3, so that a lock lives as long as it does
    std::optional<Confinement> confinement = {};    ///< none: with all our rights
    std::filesystem::path cgroup = {};              ///< that it is in; empty: in ours
    /// Called when the process exists and none of the program has run: who it is can be kept first.
    /// When it throws, the program never runs.
    std::function<void(const ProcessId&)> before_start = {};
};

/// Starts a process in a new session, with few environment variables and no descriptor of ours but
/// `lock_fd`; confined before its first instruction, when asked for. It outlives us. `output` and
/// `result` are written only where a regular file or nothing is: no link is followed.
/// errors  throws unavailable with the program's name and the system's reason, exhausted when we
/// have
///         no descriptor left; what `before_start` throws
RunningProcess spawn(const SpawnRequest& request);

/// Takes hold of a process that another incarnation of us started; none when it is gone.
/// errors  throws exhausted when it cannot be found out: we have no descriptor left
std::optional<RunningProcess> open_process(ProcessId id);

/// The exit code, or 128 + the signal; none when it is not known: it still runs, or is not ours.
std::optional<int> reap(const RunningProcess& process);

/// Sends a signal to every process of the group that `leader` leads. Harmless when none is left.
void signal_group(const RunningProcess& leader, int signal);

/// Processes of the session that `leader` began, without zombies: what must be gone before cores
/// are free.
/// errors  throws exhausted when they cannot be counted: we have no descriptor left
std::vector<pid_t> session_members(pid_t leader);

}    // namespace slipway
