#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/executor_socket.h"
#include "api/base/posix.h"
#include "scheduler/launcher/process_id.h"

namespace slipway {

/// A program, and the files that it begins with.
struct ProgramStart {
    std::filesystem::path program;
    std::vector<std::string> arguments;    ///< without the program's name
    std::filesystem::path folder;          ///< its working folder
    std::filesystem::path output;          ///< gets stderr, and stdout unless `result` is given
    std::filesystem::path result;          ///< gets stdout; or empty
    int lock_fd = -1;    ///< becomes its descriptor 3, so that a lock lives as long as it does
    int slice_memory_fd = -1;    ///< it inherits it, under the number in slice_memory_variable
    /// Called when the process exists and none of the program has run: who it is can be kept first.
    /// When it throws, the program never runs.
    std::function<void(const ProcessId&)> before_start = {};
};

/// What a program that stays needs to know of a run: a launcher that keeps none ignores it.
struct StayRequest {
    std::filesystem::path run_folder;
    /// Folders among `writable` that only this run may write; the others are those of the project.
    std::vector<std::filesystem::path> own;
};

/// A program that runs with the same program on other hosts, to which it connects: a member of a
/// slice.
struct MemberPlace {
    std::string slice;    ///< of all members: "job_…/2"
    int rank = 0;
    int count = 1;    ///< of members
};

/// One program to run for one project.
struct LaunchRequest {
    std::string name = {};    ///< unique on this host: "job_…/2", "ds_…"
    ProgramStart process;
    std::int64_t project_number = 0;
    int cores = 0;    ///< virtual cores that it has; 0: it is short, and beside the jobs
    std::vector<std::filesystem::path> readable = {};
    /// What of it is the project's alone: it is given to the project's user.
    std::vector<std::filesystem::path> owned = {};
    /// What it reads and another project may own and write to: that one keeps it. What is nobody's
    /// becomes the project's, with the folder that holds a folder.
    std::vector<std::filesystem::path> shared = {};
    std::vector<std::filesystem::path> writable = {};    ///< folders of its own; made when absent
    /// Files that were written for it below what it may write: given to the project's user, also
    /// where the folder is the user's since an earlier start.
    std::vector<std::filesystem::path> orders = {};
    /// Where it listens for its agent, one of `writable`; empty: it does not.
    std::filesystem::path socket_folder = {};
    std::int64_t memory_bytes = 0;    ///< 0: no limit
    std::int64_t cpu_seconds = 0;     ///< 0: no limit
    std::optional<MemberPlace> member = {};
    /// The program may already run, and may go on after this run: see WarmLauncher.
    std::optional<StayRequest> stay = {};
};

/// How a program ended.
struct ProcessExit {
    int status = 0;               ///< its exit code, or 128 + the signal
    bool killed = false;          ///< by a signal that no program can handle
    bool exceeded_cpu = false;    ///< it has used LaunchRequest::cpu_seconds
    /// It had waited for another run, so it may have ended before it learned of this one.
    bool had_waited = false;
};

/// Who ended a program.
enum class EndedBy {
    itself,    ///< or a signal to it alone
    others,    ///< the launcher, when another member of its slice had failed
    cluster    ///< the cluster took its place away: preempted, its node failed
};

/// What a launcher knows of an end beside the program's exit.
struct EndNote {
    EndedBy by = EndedBy::itself;
    std::string where = {};    ///< for a person: "task 1 of job 17 of Slurm on node2"; or empty
    std::string node = {};     ///< of a cluster, that it was to run on; empty: this machine
};

/// A program that a launcher runs, with everything that it starts itself. It outlives this. For one
/// thread.
class LaunchedProcess {
public:
    virtual ~LaunchedProcess() = default;
    LaunchedProcess(const LaunchedProcess&) = delete;
    LaunchedProcess& operator=(const LaunchedProcess&) = delete;

    virtual ProcessId id() const = 0;

    /// Readable once the program has ended.
    virtual int end_fd() const = 0;
    /// False: it waits for a place, so it cannot have said anything yet.
    virtual bool has_begun() const { return true; }
    /// A new connection to its executor.sock in this folder; none: there is none yet.
    virtual std::optional<UniqueFd> connect(const std::filesystem::path& run_folder) {
        return connect_unix(run_folder, executor_socket_name);
    }
    /// It runs where a network can break between it and us: silence without a connection says
    /// nothing about it.
    virtual bool is_remote() const { return false; }
    /// Somebody waits for what it does next: it goes ahead of programs that have only work to do,
    /// where the system lets us.
    virtual void go_ahead() {}
    /// It stands as far behind us as it did when it was launched.
    virtual void stand_back() {}
    /// Asks it to end; harmless when it has.
    virtual void terminate() = 0;
    /// Ends it, and what it started.
    virtual void kill() = 0;
    /// Once, after its end; none when it is not known. Ends what it has left behind.
    virtual std::optional<ProcessExit> collect_exit() = 0;
    /// After its end.
    virtual EndNote end_note() const { return {}; }
    /// Whether nothing that it started is left, so that its cores are free; what is left is ended.
    /// Once nothing is, what the launcher kept for it goes too.
    /// errors  throws exhausted when that cannot be found out now
    virtual bool is_cleared() = 0;

    /// Whether the launcher keeps the limit of memory. If not, somebody must read what is used.
    virtual bool keeps_memory_limit() const = 0;
    /// What it keeps from others, in bytes; 0 when it is gone.
    virtual std::int64_t read_memory_bytes() const = 0;
    /// Whether the limit that the launcher keeps has ended a part of it since it was launched or
    /// adopted.
    virtual bool exceeded_memory() const = 0;
    /// What an honest program may keep above its limit, since the limit does not count it.
    virtual std::int64_t uncounted_memory_bytes() const = 0;
    /// How many programs the system of its host has ended because the host's memory was used up;
    /// it only grows. -1: not known.
    virtual std::int64_t count_host_memory_kills() const = 0;

protected:
    LaunchedProcess() = default;
};

/// Runs programs: prepares their folders, confines them, starts them, and finds them again after
/// a restart of the service. Who watches them knows nothing of how they run. Safe from every
/// thread.
class Launcher {
public:
    virtual ~Launcher() = default;
    Launcher(const Launcher&) = delete;
    Launcher& operator=(const Launcher&) = delete;

    /// Folders to write, and what is `owned`, belong to the project's user from then on.
    /// errors  throws exhausted, unavailable
    virtual std::unique_ptr<LaunchedProcess> launch(const LaunchRequest& request) const = 0;
    /// What was launched by this name and id before the service was started again; null when it is
    /// gone.
    /// errors  throws exhausted when that cannot be found out now
    virtual std::unique_ptr<LaunchedProcess> adopt(const std::string& name,
                                                   const ProcessId& id) const = 0;
    /// Ends what is left of a process that nobody watches. True when nothing is.
    /// errors  as LaunchedProcess::is_cleared
    virtual bool end_left(const ProcessId& id) const = 0;
    /// Names what ids are of: kept with an id, it tells whether the id still means anything.
    virtual std::string id_scope() const = 0;
    /// Removes what was kept for processes that ended while no service ran. From time to time.
    virtual void remove_left(Instant now) const = 0;
    /// CPUs that a program with so many cores has where it runs; 0: its part of this machine's.
    virtual int cpus_of(int /*cores*/) const { return 0; }
    /// What the program of this job's attempt waits for, when it was launched and has not begun;
    /// one sentence for a person, or empty.
    virtual std::string explain_wait(const std::string& /*job_id*/) const { return {}; }
    /// Does what can be done before the next launch, so that it takes less time. After a program
    /// has ended.
    virtual void tidy() const {}
    /// Ends programs that stay and have had nothing to do for too long. Often.
    virtual void end_idle(Tick /*now*/) const {}

protected:
    Launcher() = default;
};

}    // namespace slipway
