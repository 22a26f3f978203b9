#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "api/spec/train_spec.h"

namespace slipway::search {

/// What two configurations measured of one metric on the same fold of the same split.
struct PairedFold {
    std::int64_t fold = 0;
    std::int64_t train_samples = 0;
    std::int64_t val_samples = 0;
    double first = 0;
    double second = 0;
};

/// The second configuration against the first. With d_i = second - first on fold i, n folds:
///   mean_difference  sum d_i / n
///   std              sqrt(sum (d_i - mean_difference)^2 / (n - 1))
///   standard_error   std * sqrt(1 / n + r), r = validation / training samples of all folds
///                    together: the corrected resampled t-test of Nadeau and Bengio (2003). The
///                    folds train on overlapping samples; the plain t-test would call chance a
///                    difference far too often.
///   t, p_value       mean_difference / standard_error, and the two-sided probability of a |t| at
///                    least as large with n - 1 degrees of freedom
///   low, high        the 95 % interval of mean_difference
/// Differences that are all the same have no spread: t is unknown, p_value is 1 when they are 0 and
/// 0 else. Everything but the counts needs two folds and finite values.
struct FoldComparison {
    std::int64_t folds = 0;
    std::int64_t nonfinite = 0;        ///< folds of which a value is NaN or infinite
    std::int64_t first_better = 0;     ///< folds; by the mode of the metric
    std::int64_t second_better = 0;    ///< likewise
    std::optional<double> mean_difference{};
    std::optional<double> std{};
    std::optional<double> standard_error{};
    std::optional<double> t{};
    std::optional<double> p_value{};
    std::optional<double> low{};
    std::optional<double> high{};
};

/// Pure. `mode` says which values are the better ones.
FoldComparison compare_folds(std::span<const PairedFold> folds, MetricMode mode);

}    // namespace slipway::search
