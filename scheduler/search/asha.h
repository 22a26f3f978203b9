#pragma once

#include <memory>

#include "scheduler/search/policy.h"

namespace slipway::search {

/// Asynchronous successive halving (Li et al., "A system for massively parallel hyperparameter
/// tuning", 2020) in two variants:
///   stop     a trial that reaches a rung goes on when it is among the best
///            max(1, n / reduction_factor) of the n that have reached it, and is stopped otherwise
///   promote  a trial that reaches a rung pauses. Whoever is free resumes the best trial that is
///            among the best n / reduction_factor of its rung and has not been promoted, from the
///            highest rung down; otherwise starts a new one.
/// A trial whose loss is worst_loss (NaN) never goes on.
std::unique_ptr<TrialPolicy> asha_policy(const AlgorithmSpec& spec, ObjectiveSelection selection);

}    // namespace slipway::search
