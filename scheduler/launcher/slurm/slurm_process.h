#pragma once

#include <filesystem>
#include <memory>

#include "scheduler/launcher/launcher.h"
#include "scheduler/launcher/slurm/queue.h"

namespace slipway {

/// A job of Slurm.
class SlurmProcess final : public LaunchedProcess {
public:
    /// `order` is removed once the job is gone.
    SlurmProcess(ProcessId id, std::filesystem::path order, std::shared_ptr<SlurmQueue> queue,
                 std::shared_ptr<SlurmQueue::Watch> watch);

    ProcessId id() const override { return id_; }
    int end_fd() const override { return watch_->end_fd(); }
    void terminate() override;
    void kill() override;
    std::optional<ProcessExit> collect_exit() override;
    bool is_cleared() override;
    bool has_begun() const override;
    /// Of its node's cgroup, where Slurm is set up to keep it (ConstrainRAMSpace). The limit that
    /// the confinement sets holds in any case.
    bool keeps_memory_limit() const override { return true; }
    std::int64_t read_memory_bytes() const override { return 0; }
    bool exceeded_memory() const override;
    std::int64_t uncounted_memory_bytes() const override;
    std::int64_t count_host_memory_kills() const override { return -1; }

private:
    const ProcessId id_;
    const std::filesystem::path order_;
    const std::shared_ptr<SlurmQueue> queue_;
    const std::shared_ptr<SlurmQueue::Watch> watch_;
};

}    // namespace slipway
