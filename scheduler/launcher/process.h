#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "api/base/posix.h"
#include "scheduler/launcher/confinement.h"
#include "scheduler/launcher/launcher.h"

namespace slipway {

/// A process that leads a session and process group of its own.
struct RunningProcess {
    ProcessId id;
    UniqueFd pidfd;        ///< readable once it has ended
    bool child = false;    ///< ours to reap; an adopted one is not
};

/// What a process is started within.
struct SpawnLimits {
    std::optional<Confinement> confinement = {};    ///< none: with all our rights
    std::filesystem::path cgroup = {};              ///< that it is in; empty: in ours
    int niceness = 0;                               ///< above ours; 0 to 19
};

/// NAME=value, of our environment what a program may know: nothing that could hold a secret.
std::vector<std::string> program_environment();

/// Starts a process in a new session, with few environment variables and no descriptor of ours but
/// `lock_fd` and `slice_memory_fd`; confined before its first instruction, when asked for. It
/// outlives us. `output` and `result` are written only where a regular file or nothing is: no link
/// is followed. errors  throws unavailable with the program's name and the system's reason,
/// exhausted when we have
///         no descriptor left; what `before_start` throws
RunningProcess spawn(const ProgramStart& start, const SpawnLimits& limits = {});

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
