#pragma once

#include <cstdint>

#include "scheduler/launcher/confine/cgroup.h"
#include "scheduler/launcher/process.h"

namespace slipway {

/// How executors run on this machine.
struct LauncherOptions {
    /// The program slipway-confine; empty: executors have all the rights of the service.
    std::filesystem::path confiner = {};
    /// As root, project number N runs as the user with this number + N. None: as the service's
    /// user.
    std::optional<uid_t> first_user = {};
    std::int64_t file_bytes_max = std::int64_t{1} << 40;    ///< of one file that an executor writes
    std::int64_t processes_max = 4096;    ///< threads of one project on this machine
    CgroupTree cgroups = {};              ///< none: who watches a process reads what it uses
};

/// One program to run for one project.
struct LaunchRequest {
    std::string name = {};    ///< unique on this host: "job_…/2", "ds_…"
    SpawnRequest process;     ///< without its confinement
    std::int64_t project_number = 0;
    std::vector<std::filesystem::path> readable = {};
    /// What of it is the project's alone: it is given to the project's user.
    std::vector<std::filesystem::path> owned = {};
    /// What it reads and another project may own and write to: that one keeps it. What is nobody's
    /// becomes the project's, with the folder that holds a folder.
    std::vector<std::filesystem::path> shared = {};
    std::vector<std::filesystem::path> writable = {};    ///< folders of its own; made when absent
    std::int64_t memory_bytes = 0;                       ///< 0: no limit
    std::int64_t cpu_seconds = 0;                        ///< 0: no limit
};

/// Starts programs on this machine: prepares their folders, confines them, runs them. They are
/// watched and ended by the Supervisor, which needs their RunningProcess alone: another launcher
/// (a cluster's) would replace this one and keep that. Safe from every thread.
class Launcher {
public:
    explicit Launcher(LauncherOptions options);

    /// Folders to write, and what is `owned`, belong to the project's user from then on; folders
    /// among them have mode 0700.
    /// errors  throws exhausted, unavailable
    RunningProcess launch(const LaunchRequest& request) const;

    /// The cgroup of what was launched by this name, also by a launcher before this one; empty when
    /// it has none. Who sees the end of the process removes it.
    std::filesystem::path find_cgroup(const std::string& name) const;
    /// remove_left_cgroups() of its tree.
    void remove_left_cgroups(Instant now) const;

private:
    Confinement confinement_of(const LaunchRequest& request) const;
    std::vector<gid_t> prepare(const LaunchRequest& request) const;
    std::optional<gid_t> share(const std::filesystem::path& path, uid_t user) const;
    std::optional<uid_t> user_of(const LaunchRequest& request) const;

    const LauncherOptions options_;
};

/// Makes the folder (mode 0700) when absent; its parents are open to pass through, not to be
/// listed. errors  throws exhausted, unavailable
void make_private_folder(const std::filesystem::path& folder);

}    // namespace slipway
