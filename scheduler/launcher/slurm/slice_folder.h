#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "scheduler/launcher/slurm/start_order.h"

namespace slipway {

/// How the program of one member of a slice ended, as slipway-slurm-start has seen it on the node.
struct MemberExit {
    int status = 0;               ///< its exit code, or 128 + the signal
    std::int64_t ended_ns = 0;    ///< by the node's clock, since 1970
    std::string node = {};
    bool operator==(const MemberExit&) const = default;
};

/// What the members of a slice that runs as one job of Slurm leave for each other in a folder which
/// only the service's user can read: for each rank an order (held, until it is known who the member
/// is), then how it ended. One file for each, written whole or not at all: nothing of it depends on
/// what else a service or a node has done when it is killed.
class SliceFolder {
public:
    explicit SliceFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

    const std::filesystem::path& path() const { return folder_; }
    std::filesystem::path order_of(int rank) const;
    /// The folder is made when absent; an order that is there is replaced.
    /// errors  throws exhausted, unavailable
    void hold_order(int rank, const std::string& text) const;
    /// The service knows who the member is: it may run. Again: nothing happens.
    /// errors  throws unavailable
    void let_go(int rank) const;
    /// Held or not.
    std::optional<StartOrder> read_order(int rank) const;
    /// Members that may run.
    int count_let_go() const;

    /// The node has read the order of this member.
    void keep_begin(int rank, const std::string& node) const;
    /// Where it has; none: it has not, or it is not seen yet.
    std::optional<std::string> begun_on(int rank) const;

    /// errors  throws unavailable
    void keep_exit(int rank, const MemberExit& exit) const;
    /// None: it runs, has not begun, or was ended together with what would have kept it.
    std::optional<MemberExit> exit_of(int rank) const;
    /// The first member other than this one that has ended badly.
    std::optional<int> first_failed_before(int rank) const;
    /// Members that have ended.
    int count_exits() const;

    /// What this member has left; the last one removes the folder.
    void remove(int rank) const;

private:
    int count(const char* ending) const;

    std::filesystem::path folder_;
};

}    // namespace slipway
