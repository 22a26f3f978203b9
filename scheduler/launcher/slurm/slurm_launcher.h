#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "scheduler/launcher/local_launcher.h"
#include "scheduler/launcher/slurm/job_mark.h"
#include "scheduler/launcher/slurm/queue.h"
#include "scheduler/launcher/slurm/slice_folder.h"
#include "scheduler/launcher/slurm/slurm_links.h"
#include "scheduler/launcher/slurm/slurm_process.h"

namespace slipway {

struct SlurmOptions {
    SlurmQueueOptions queue;
    std::filesystem::path starter;    ///< the program slipway-slurm-start
    std::filesystem::path folder;     ///< of start orders; nodes reach it by the same path
    std::string host;                 ///< this host's name, in the comments of its jobs
    std::optional<LinkListenerOptions> listen = {};    ///< none: nodes are on this machine
};

/// Runs programs with cores as jobs of Slurm, on a node that it chooses, as confined as
/// LocalLauncher confines them; short work without cores runs on this machine.
/// docs/decisions/0065. Files and programs have the same paths on every node.
///
/// The members of a slice are the tasks of one job: the first that is launched submits it, held,
/// and it is released when all members are recorded. So all hosts of a slice must be of one
/// service. An id is what job_mark.h says.
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
    int cpus_of(int cores) const override { return links_ ? cores : 0; }
    std::string explain_wait(const std::string& job_id) const override;

private:
    static std::int64_t memory_of(const LaunchRequest& request);
    std::string comment_of(std::int64_t mark) const;
    SlurmOrders orders_of(const ProcessId& id) const;
    SliceFolder folder_of_slice(std::int64_t mark) const;
    std::string order_text(const LaunchRequest& request) const;
    std::unique_ptr<SlurmProcess> watch(const std::string& name, const ProcessId& id) const;
    std::int64_t submit_batch(BatchRequest request) const;
    ProcessId submit(const LaunchRequest& request) const;
    std::unique_ptr<LaunchedProcess> launch_member(const LaunchRequest& request) const;
    std::int64_t find_or_submit_slice(const LaunchRequest& request, std::int64_t mark) const;
    void let_member_go(std::int64_t number, const MarkedMember& member, int count) const;
    bool let_held_member_go(std::int64_t number, const MarkedMember& member) const;
    bool begin_sweep(Instant now) const;
    void end_held(const std::vector<SlurmJobLine>& jobs, Instant now) const;
    void end_revived(const std::vector<SlurmJobLine>& jobs, Instant now) const;
    void remove_old_orders(const std::vector<SlurmJobLine>& jobs, Instant now) const;

    const LocalLauncher local_;
    const SlurmOptions options_;
    const SlurmLinks links_;
    const Clock& clock_;
    const std::shared_ptr<SlurmQueue> queue_;     // shared: processes outlive the launcher
    const std::shared_ptr<NodeFaults> faults_;    // likewise
    mutable std::mutex slices_;    // one member after the other: the last one releases the job
    mutable std::map<std::int64_t, std::int64_t>
        slice_jobs_;    // guarded by slices_: held, by mark
    mutable std::mutex mutex_;
    mutable std::optional<Instant> swept_at_;               // guarded by mutex_
    mutable std::map<std::int64_t, Instant> held_since_;    // guarded by mutex_: as seen by sweeps
};

}    // namespace slipway
