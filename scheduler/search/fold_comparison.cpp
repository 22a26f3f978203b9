#include "scheduler/search/fold_comparison.h"

#include <algorithm>
#include <cmath>

#include "scheduler/search/student_t.h"

namespace slipway::search {

namespace {

constexpr double upper_tail_from = 0.975;    // of the 95 % interval

bool is_finite(const PairedFold& fold) {
    return std::isfinite(fold.first) && std::isfinite(fold.second);
}

/// More than one fold, all of them finite.
void put_test(FoldComparison& out, std::span<const PairedFold> folds) {
    const auto n = double(folds.size());
    double squares = 0;
    double validated = 0;
    double trained = 0;
    for (const PairedFold& fold : folds) {
        const double from_mean = fold.second - fold.first - *out.mean_difference;
        squares += from_mean * from_mean;
        validated += double(fold.val_samples);
        trained += double(fold.train_samples);
    }
    out.std = std::sqrt(squares / (n - 1));
    if (trained <= 0) return;
    out.standard_error = *out.std * std::sqrt(1 / n + validated / trained);
    if (*out.standard_error == 0) {
        out.p_value = *out.mean_difference == 0 ? 1 : 0;
        return;
    }
    out.t = *out.mean_difference / *out.standard_error;
    out.p_value = 2 * student_t_cdf(-std::abs(*out.t), n - 1);
    const double reach = student_t_quantile(upper_tail_from, n - 1) * *out.standard_error;
    out.low = *out.mean_difference - reach;
    out.high = *out.mean_difference + reach;
}

}    // namespace

FoldComparison compare_folds(std::span<const PairedFold> folds, MetricMode mode) {
    FoldComparison out{.folds = std::int64_t(folds.size())};
    double sum = 0;
    for (const PairedFold& fold : folds) {
        if (!is_finite(fold)) {
            ++out.nonfinite;
            continue;
        }
        const double difference = fold.second - fold.first;
        const double gain = mode == MetricMode::max ? difference : -difference;
        if (gain > 0) ++out.second_better;
        if (gain < 0) ++out.first_better;
        sum += difference;
    }
    if (folds.empty() || out.nonfinite > 0) return out;
    out.mean_difference = sum / double(folds.size());
    if (folds.size() > 1) put_test(out, folds);
    return out;
}

}    // namespace slipway::search
