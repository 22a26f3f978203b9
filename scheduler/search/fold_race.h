#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "api/spec/sweep_spec.h"
#include "scheduler/search/policy.h"

namespace slipway::search {

/// Samples of both sides of a fold.
struct FoldSize {
    std::int64_t train = 0;
    std::int64_t val = 0;
    bool operator==(const FoldSize&) const = default;
};

/// Of a search whose trials are cross-validations: what time is, and how trials are ended early.
struct FoldSearch {
    std::vector<FoldSize> sizes{};    ///< of each fold; empty: not known yet, nothing is reported
    bool is_weighted = false;         ///< by validation samples, as FoldStatistics::weighted_mean
    std::optional<FoldPruningSpec> pruning{};    ///< none: every trial trains every fold
};

/// The mean of the first values.size() folds, at least one; NaN when one of them is not finite.
double fold_mean(const FoldSearch& folds, std::span<const double> values);

/// What the folds done so far say about two trials.
struct FoldChance {
    double mean_difference = 0;    ///< of losses, challenger - leader; positive: worse
    std::optional<double> t{};     ///< none: the differences have no spread
    double probability = 0;        ///< that the challenger's mean over all folds is the smaller one
};

/// Losses of both on the first challenger.size() folds, at least two, all finite; `leader` has as
/// many or more. Pure. With d_i = challenger_i - leader_i on fold i, weights w_i, k folds done:
///   mean_difference  sum w_i d_i / sum w_i over the folds that are done
///   s^2              sum (d_i - mean_difference)^2 / (k - 1)
///   error^2          s^2 (sum over the others of w_j^2 / W^2
///                         + (W_others / W)^2 sum over done of w_i^2 / W_done^2)
///   t                mean_difference / error; probability = P(T < -t), T with k - 1 degrees
/// error is that of the prediction of the mean over all folds: 0 when none is left. With equal
/// weights and n folds error^2 = s^2 (n - k) / (n k).
FoldChance chance_to_win(const FoldSearch& folds, std::span<const double> challenger,
                         std::span<const double> leader);

/// Trials whose reports are folds, time 1 being fold 0.
std::unique_ptr<TrialPolicy> fold_policy(FoldSearch folds, MetricMode mode);

}    // namespace slipway::search
