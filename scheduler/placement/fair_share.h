#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/placement/snapshot.h"

namespace slipway {

/// Jobs by project and group.
using GroupCounts = std::map<std::pair<std::string, std::string>, int>;
GroupCounts count_groups(const std::vector<RunningJob>& running);

/// A job that is ahead of another one of its project counts as so many seconds of its cores: jobs
/// of several projects take turns while nothing is known of how long they run.
inline constexpr double turn_s = 60;

/// The order in which jobs get cores: class, then what their project has used of its share, then
/// age, then id. A project's usage is in decayed core-seconds, divided by its weight; each of its
/// jobs that is ahead adds turn_s for each of its cores. Of one shape (cores, core, memory) only
/// the first `of_each_shape` jobs of a project add: no more of them can start at a time, so that
/// the order of those that can does not depend on how many wait behind them; of a group, only
/// as many as its limit leaves beside the `running` ones. Pure; the order of `queue` does not
/// matter.
std::vector<WaitingJob> in_fair_order(std::vector<WaitingJob> queue,
                                      const std::vector<ProjectShare>& projects,
                                      std::size_t of_each_shape, const GroupCounts& running = {});

}    // namespace slipway
