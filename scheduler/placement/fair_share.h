#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scheduler/placement/snapshot.h"

namespace slipway {

/// A job that is ahead of another one of its project counts as so many seconds of its cores: jobs
/// of several projects take turns while nothing is known of how long they run.
inline constexpr double turn_s = 60;

/// The order in which jobs get cores: class, then what their project has used of its share, then
/// age, then id. A project's usage is in decayed core-seconds, divided by its weight; each of its
/// jobs that is ahead adds turn_s for each of its cores. Of one shape (cores, core, memory) only
/// the first `of_each_shape` jobs of a project add: no more of them can start at a time, so that
/// the order of those that can does not depend on how many wait behind them. Pure; the order of
/// `queue` does not matter.
std::vector<WaitingJob> in_fair_order(std::vector<WaitingJob> queue,
                                      const std::vector<ProjectShare>& projects,
                                      std::size_t of_each_shape);

}    // namespace slipway
