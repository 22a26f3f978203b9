#include "scheduler/search/fold_summary.h"

#include <algorithm>
#include <cmath>

namespace slipway::search {

namespace {

/// Deviations from their means: there is more than one fold.
void put_errors(FoldStatistics& out, std::span<const FoldValue> values, double weights) {
    const auto n = double(values.size());
    double squares = 0;
    double weighted_squares = 0;
    double trained = 0;
    for (const FoldValue& one : values) {
        const double from_mean = one.value - *out.mean;
        squares += from_mean * from_mean;
        trained += double(one.train_samples);
        if (!out.weighted_mean) continue;
        const double weighted = double(one.val_samples) * (one.value - *out.weighted_mean);
        weighted_squares += weighted * weighted;
    }
    out.std = std::sqrt(squares / (n - 1));
    out.standard_error = *out.std / std::sqrt(n);
    if (trained > 0) out.corrected_error = *out.std * std::sqrt(1 / n + weights / trained);
    if (out.weighted_mean)
        out.weighted_standard_error = std::sqrt(n / (n - 1) * weighted_squares) / weights;
}

}    // namespace

FoldStatistics summarize_folds(std::span<const FoldValue> values) {
    FoldStatistics out{.folds = std::int64_t(values.size())};
    out.nonfinite = std::ranges::count_if(
        values, [](const FoldValue& one) { return !std::isfinite(one.value); });
    if (values.empty() || out.nonfinite > 0) return out;
    double sum = 0;
    double weighted = 0;
    double weights = 0;
    for (const FoldValue& one : values) {
        sum += one.value;
        weighted += double(one.val_samples) * one.value;
        weights += double(one.val_samples);
    }
    out.mean = sum / double(values.size());
    if (weights > 0) out.weighted_mean = weighted / weights;
    const auto [least, most] = std::ranges::minmax(values, {}, &FoldValue::value);
    out.min = least.value;
    out.max = most.value;
    if (values.size() > 1) put_errors(out, values, weights);
    return out;
}

}    // namespace slipway::search
