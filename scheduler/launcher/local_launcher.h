#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/launcher/confine/cgroup.h"
#include "scheduler/launcher/confinement.h"
#include "scheduler/launcher/launcher.h"
#include "scheduler/launcher/slice_memories.h"

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
    /// Of programs, above ours: 0 to 19. What starts, stops and hears executors is short: behind
    /// them it would wait for a turn among as many as there are cores.
    int niceness = 5;
};

/// Runs programs as processes of this machine. Folders among what a program may write have mode
/// 0700.
class LocalLauncher final : public Launcher {
public:
    explicit LocalLauncher(LauncherOptions options);

    std::unique_ptr<LaunchedProcess> launch(const LaunchRequest& request) const override;
    std::unique_ptr<LaunchedProcess> adopt(const std::string& name,
                                           const ProcessId& id) const override;
    bool end_left(const ProcessId& id) const override;
    std::string id_scope() const override;
    void remove_left(Instant now) const override;

    /// Makes the folders that the program may write, and gives it what is its own, as launch()
    /// does. Returns the groups of what is shared.
    std::vector<gid_t> prepare(const LaunchRequest& request) const;
    /// Prepares likewise, and says what the program is confined to; none when nothing is confined.
    std::optional<Confinement> confine(const LaunchRequest& request) const;
    /// Whether programs can make no processes.
    bool confines() const { return !options_.confiner.empty(); }

private:
    Confinement confinement_of(const LaunchRequest& request) const;
    std::optional<gid_t> share(const std::filesystem::path& path, uid_t user) const;
    std::optional<uid_t> user_of(const LaunchRequest& request) const;
    std::filesystem::path find_cgroup(const std::string& name) const;

    const LauncherOptions options_;
    mutable SliceMemories slice_memories_;    ///< launch() is const, as it is for all launchers
};

}    // namespace slipway
