#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/placement/snapshot.h"

namespace slipway {

/// Jobs by project and group.
using GroupCounts = std::map<std::pair<std::string, std::string>, int>;
GroupCounts count_groups(const std::vector<RunningJob>& running);

/// The cores of all hosts, and of those of each pool.
struct CoreCounts {
    std::size_t all = 0;
    std::map<std::string, std::size_t, std::less<>> of_pools = {};

    explicit CoreCounts(std::size_t all_cores) : all(all_cores) {}
    explicit CoreCounts(const std::vector<CoreSlot>& cores);
    /// That the job may have.
    std::size_t open_to(const WaitingJob& job) const;
};

/// A job that is ahead of another one of its project counts as so many seconds of its cores: jobs
/// of several projects take turns while nothing is known of how long they run.
inline constexpr double turn_s = 60;

/// What a waiting job of several cores earns: so much of the cores that it may have, per second.
/// Other projects that have used less come first, and while their small jobs keep coming the hosts
/// of a slice are never all free; what it earns puts it ahead of them in the end. At most half of
/// the cores go to a project beyond its share in this way, however many such jobs it has.
inline constexpr double earned_while_waiting = 0.5;
/// No job earns for longer: one that was held for a month does not go before everybody.
inline constexpr std::chrono::hours earning_max{24};

/// The order in which jobs get cores: class, then what their project has used of its share, then
/// age, then id. A project's usage is in decayed core-seconds of all pools, divided by its weight;
/// each of its jobs that is ahead and may have the same cores adds turn_s for each of its own: who
/// waits for one pool is no turn behind in another. Of one shape (pool, cores, core, memory) only
/// the first jobs of a project add, as many as there are `cores`: no more of them can start at a
/// time, so that the order of those that can does not depend on how many wait behind them; of a
/// group, only as many as its limit leaves beside the `running` ones. A job of several cores has
/// earned_while_waiting taken off what its project has used, for as long as it has waited at `now`,
/// on as many cores as are open to it. Pure; the order of `queue` does not matter.
std::vector<WaitingJob> in_fair_order(std::vector<WaitingJob> queue,
                                      const std::vector<ProjectShare>& projects,
                                      const CoreCounts& cores, const GroupCounts& running = {},
                                      Instant now = {});

}    // namespace slipway
