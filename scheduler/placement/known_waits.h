#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "scheduler/placement/placement.h"

namespace slipway {

/// What one pass has found out about jobs that ask for the same, so that thousands of them that
/// wait cost one look at the machine. Constant time, but for the logarithm of what is known.
class KnownWaits {
public:
    explicit KnownWaits(Instant now) : now_(now) {}

    /// An earlier job that asked for the same, for no longer, found no cores. What is free only
    /// becomes less in a pass.
    bool cannot_start(const WaitingJob& job) const;
    void found_no_cores(const WaitingJob& job);

    /// The reason of an earlier job like this one, under this one's id, unless the machine has
    /// changed since.
    std::optional<WaitReason> find(const WaitingJob& job) const;
    void put(const WaitingJob& job, const WaitReason& reason);

    /// A core is held or reserved, or a job gives way: reasons may be others now.
    void machine_changed() {
        reasons_.clear();
        ++changes_;
    }
    /// So often has the machine changed in this pass.
    std::int64_t changes() const { return changes_; }
    /// Reserved cores are lent until then.
    void add_deadline(Instant lent_until);

private:
    /// Pool, cores, core, memory, avoided hosts.
    using Request =
        std::tuple<std::string, int, int, std::optional<std::int64_t>, std::set<std::string>>;
    /// Class, and how many of the deadlines the job would keep.
    using Alike = std::tuple<Request, int, std::size_t>;

    static Request request_of(const WaitingJob& job);
    Alike alike(const WaitingJob& job) const;

    Instant now_;
    std::int64_t changes_ = 0;
    std::map<Request, std::chrono::seconds> without_cores_;    ///< and for how long, at least
    std::map<Alike, WaitReason> reasons_;
    std::vector<Instant> deadlines_;    ///< ascending
};

}    // namespace slipway
