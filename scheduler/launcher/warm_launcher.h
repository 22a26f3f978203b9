#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>

#include "scheduler/launcher/local_launcher.h"
#include "scheduler/launcher/worker_pool.h"

namespace slipway {

struct WarmOptions {
    std::filesystem::path folder;    ///< of workers; on the file system of what runs write
    int workers_max = 8;             ///< that run or wait
    std::chrono::milliseconds idle_max{60000};    ///< then an idle one is ended
};

/// Runs programs on this machine as LocalLauncher does, and lets those with a StayRequest go from
/// one run to the next: a program that says that its run has ended well waits for another one with
/// the same project, data, limits, program and rights, and is as confined in it as one that was
/// started for it. docs/decisions/0047.
class WarmLauncher final : public Launcher {
public:
    /// `clock` outlives the launcher.
    WarmLauncher(LauncherOptions local, WarmOptions options, const Clock& clock);

    std::unique_ptr<LaunchedProcess> launch(const LaunchRequest& request) const override;
    std::unique_ptr<LaunchedProcess> adopt(const std::string& name,
                                           const ProcessId& id) const override;
    bool end_left(const ProcessId& id) const override;
    std::string id_scope() const override;
    void remove_left(Instant now) const override;
    void tidy() const override { pool_->take_back_all(); }
    void end_idle(Tick now) const override;

    const WorkerPool& pool() const { return *pool_; }

private:
    std::shared_ptr<Worker> start(const LaunchRequest& request) const;
    std::shared_ptr<Worker> take(const LaunchRequest& request) const;
    void remove_left_workers() const;

    const LocalLauncher local_;
    const WarmOptions options_;
    const Clock& clock_;
    const std::shared_ptr<WorkerPool> pool_;        // shared: runs outlive the launcher
    mutable std::atomic<bool> ends_left_{false};    // somebody else's worker is about to be gone
};

}    // namespace slipway
