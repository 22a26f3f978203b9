#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace slipway::search {

/// What one fold measured of one metric.
struct FoldValue {
    std::int64_t fold = 0;
    std::int64_t train_samples = 0;
    std::int64_t val_samples = 0;    ///< that the value is of
    double value = 0;
};

/// One metric over the folds of a cross-validation. With v_i the value of fold i, w_i its
/// validation samples, n folds, W = sum w_i:
///   mean                     sum v_i / n
///   std                      sqrt(sum (v_i - mean)^2 / (n - 1))
///   standard_error           std / sqrt(n)
///   corrected_error          std * sqrt(1 / n + r), r = validation / training samples of all folds
///                            together (Nadeau and Bengio 2003): folds share training samples, so
///                            their values are not independent, and standard_error is too small
///   weighted_mean            sum w_i v_i / W: for a mean over samples, such as a loss or an
///                            accuracy, its value over all out-of-fold predictions
///   weighted_standard_error  sqrt(n / (n - 1) * sum (w_i (v_i - weighted_mean))^2) / W, the error
///                            of a ratio of sums; equal weights give standard_error
/// The errors and std need two folds. A value that is not finite makes all of them unknown: a mean
/// of the others would hide that a fold diverged.
struct FoldStatistics {
    std::int64_t folds = 0;
    std::int64_t nonfinite = 0;    ///< folds whose value is NaN or infinite
    std::optional<double> mean{};
    std::optional<double> std{};
    std::optional<double> standard_error{};
    std::optional<double> corrected_error{};
    std::optional<double> weighted_mean{};
    std::optional<double> weighted_standard_error{};
    std::optional<double> min{};
    std::optional<double> max{};
};

/// Values of the same metric, each of another fold. Sums run in the order of `values`. Pure.
FoldStatistics summarize_folds(std::span<const FoldValue> values);

}    // namespace slipway::search
