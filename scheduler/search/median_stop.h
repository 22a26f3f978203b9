#pragma once

#include <memory>

#include "scheduler/search/policy.h"

namespace slipway::search {

/// The median rule of Vizier (Golovin et al., 2017): from grace_time on, a trial is stopped when
/// its best value so far is worse than the median, over the other trials that have reached its
/// time, of their mean values up to that time. At least min_samples others are needed. Failed
/// trials do not count.
std::unique_ptr<TrialPolicy> median_stop_policy(const AlgorithmSpec& spec, MetricMode mode);

}    // namespace slipway::search
