#pragma once

#include <memory>

#include "scheduler/search/policy.h"

namespace slipway::search {

/// One round of a bracket: so many trials trained to a time.
struct HyperbandRound {
    std::int64_t trials = 0;
    std::int64_t time = 0;
    bool operator==(const HyperbandRound&) const = default;
};

/// The brackets of Hyperband in the order in which they are opened, the one with most trials first.
/// With s + 1 rounds a bracket begins with floor((s_max + 1) / (s + 1)) * eta^s trials, trained to
/// max_time / eta^s; each round keeps one of eta (Li et al., "Hyperband", 2018, table 1).
std::vector<std::vector<HyperbandRound>> hyperband_brackets(std::int64_t min_time,
                                                            std::int64_t max_time,
                                                            std::int64_t reduction_factor);

/// Hyperband: a round ends when every trial of it has reached its time, has ended or failed; then
/// the best go on, the others are stopped. While a round waits, the next bracket is opened; after
/// the last one the first is opened again. The last bracket has as many trials as may be started.
std::unique_ptr<TrialPolicy> hyperband_policy(const AlgorithmSpec& spec,
                                              ObjectiveSelection selection);

}    // namespace slipway::search
