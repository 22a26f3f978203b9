#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "scheduler/launcher/launcher.h"
#include "scheduler/launcher/slurm/node_faults.h"
#include "scheduler/launcher/slurm/queue.h"
#include "scheduler/launcher/slurm/slice_folder.h"
#include "scheduler/launcher/slurm/slurm_links.h"

namespace slipway {

/// Of the file, beside a job's orders, that says that the job has ended.
inline constexpr const char* ended_ending = ".ended";

/// Where the orders of a job are.
struct SlurmOrders {
    std::filesystem::path file;      ///< of one program; empty for a member of a slice
    SliceFolder slice{{}};           ///< of the slice
    std::optional<int> rank = {};    ///< of the member; none: one program
    /// What the program was told; none: it is not there.
    std::optional<StartOrder> read() const;
    /// The node that has read it; none: none has yet.
    std::optional<std::string> begun_on() const;
    /// The job has ended. That is kept for a while: slurmctld may forget it.
    void remove() const;
};

/// A job of Slurm, or a member of a slice, which is a task of one. The end of a member is that of
/// its task; that nothing of it is left is said when the whole job has ended. Whoever ends a member
/// ends the slice.
class SlurmProcess final : public LaunchedProcess {
public:
    /// `orders` are removed once the job is gone. `link` is null when its node is this machine.
    SlurmProcess(ProcessId id, SlurmOrders orders, std::shared_ptr<SlurmQueue> queue,
                 std::shared_ptr<SlurmQueue::Watch> watch, std::unique_ptr<SlurmLink> link,
                 std::shared_ptr<NodeFaults> faults, const Clock& clock);

    /// It ran before this was made: by an earlier build, perhaps, which leaves no sign.
    void take_as_begun() { has_begun_ = true; }

    ProcessId id() const override { return id_; }
    int end_fd() const override { return watch_->end_fd(); }
    std::optional<UniqueFd> connect(const std::filesystem::path& run_folder) override;
    bool is_remote() const override { return link_ != nullptr; }
    void terminate() override;
    void kill() override;
    std::optional<ProcessExit> collect_exit() override;
    EndNote end_note() const override;
    bool is_cleared() override;
    /// slipway-slurm-start has begun: what Slurm does on a node before (a prolog) may take long.
    bool has_begun() const override;
    /// Of its node's cgroup, where Slurm is set up to keep it (ConstrainRAMSpace). The limit that
    /// the confinement sets holds in any case.
    bool keeps_memory_limit() const override { return true; }
    std::int64_t read_memory_bytes() const override { return 0; }
    bool exceeded_memory() const override;
    std::int64_t uncounted_memory_bytes() const override;
    std::int64_t count_host_memory_kills() const override { return -1; }

private:
    bool runs() const;
    bool has_failed_start(const SlurmJobFacts& facts, const std::optional<MemberExit>& exit) const;
    std::string node_of(const SlurmJobFacts& facts) const;
    bool has_member_without_start() const;

    const ProcessId id_;
    const SlurmOrders orders_;
    const std::shared_ptr<SlurmQueue> queue_;
    const std::shared_ptr<SlurmQueue::Watch> watch_;
    const std::unique_ptr<SlurmLink> link_;
    const std::shared_ptr<NodeFaults> faults_;
    const Clock& clock_;
    const int members_;
    mutable bool has_begun_ = false;    // it stays so: no more files are looked for
};

}    // namespace slipway
