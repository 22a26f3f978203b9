#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "scheduler/launcher/local_launcher.h"
#include "scheduler/launcher/slurm/queue.h"

namespace slipway {

struct SlurmOptions {
    SlurmQueueOptions queue;
    std::filesystem::path starter;    ///< the program slipway-slurm-start
    std::filesystem::path folder;     ///< of start orders; nodes reach it by the same path
    std::string host;                 ///< this host's name, in the comments of its jobs
};

/// Runs programs with cores as jobs of Slurm, on a node that it chooses, as confined as
/// LocalLauncher confines them; short work without cores runs on this machine.
/// docs/decisions/0065. Files and programs have the same paths on every node.
///
/// An id of a job is its number and a random mark, negative, which stands in the job's comment.
class SlurmLauncher final : public Launcher {
public:
    /// `clock` outlives the launcher.
    SlurmLauncher(LauncherOptions local, SlurmOptions options, const Clock& clock);

    std::unique_ptr<LaunchedProcess> launch(const LaunchRequest& request) const override;
    std::unique_ptr<LaunchedProcess> adopt(const std::string& name,
                                           const ProcessId& id) const override;
    bool end_left(const ProcessId& id) const override;
    std::string id_scope() const override;
    void remove_left(Instant now) const override;
    std::string explain_wait(const std::string& job_id) const override;

private:
    std::string comment_of(const ProcessId& id) const;
    std::filesystem::path order_of(const ProcessId& id) const;
    std::unique_ptr<LaunchedProcess> watch(const std::string& name, const ProcessId& id) const;
    ProcessId submit(const LaunchRequest& request) const;
    void end_held(const std::vector<SlurmJobLine>& jobs) const;
    void remove_old_orders(const std::vector<SlurmJobLine>& jobs, Instant now) const;

    const LocalLauncher local_;
    const SlurmOptions options_;
    const std::shared_ptr<SlurmQueue> queue_;    // shared: processes outlive the launcher
    mutable std::mutex mutex_;
    mutable std::set<std::int64_t> held_before_;    // guarded by mutex_: at the last remove_left()
};

}    // namespace slipway
