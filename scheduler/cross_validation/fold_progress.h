#pragma once

#include <optional>
#include <vector>

#include "scheduler/search/fold_comparison.h"
#include "scheduler/search/fold_plan.h"
#include "scheduler/search/fold_summary.h"
#include "scheduler/store/cross_validations.h"

namespace slipway {

// What stored folds mean to the pure functions of scheduler/search. Pure.

search::FoldProgress progress_of(const store::StoredFold& fold);

/// What becomes of a fold whose job has ended, or was deleted: none when nothing does.
/// `predicts`: a fold that has trained goes on to its predictions.
std::optional<store::FoldSettlement> settlement_of(const store::StoredFold& fold, bool predicts);

/// Of a fold that failed or was cancelled, the code of the reason: that of its job, or the job's
/// state; not_made, job_deleted, no_result (the job succeeded, and could not be gone on with). None
/// of others.
std::optional<std::string> failure_code(const store::StoredFold& fold);

/// Whether only the predictions of such a fold are missing.
bool has_trained(const store::StoredFold& fold);

/// The fold after it.
void apply(const store::FoldSettlement& settlement, store::StoredFold& fold);

/// The metrics of the last evaluation by name, NaN and infinities as such; empty before.
std::map<std::string, double> metrics_of(const store::StoredFold& fold);

/// One metric over the folds that have succeeded.
struct MetricOverFolds {
    std::string name;
    MetricMode mode = MetricMode::min;
    search::FoldStatistics statistics;
};
/// By name; only metrics that every fold that has succeeded has.
std::vector<MetricOverFolds> summarize(const std::vector<store::StoredFold>& folds);

/// One metric of two cross-validations over the folds that have succeeded in both.
struct ComparedMetric {
    std::string name;
    MetricMode mode = MetricMode::min;
    std::vector<search::PairedFold> folds;
    search::FoldComparison comparison;
};
/// Of the same split. By name; only metrics that each of those folds has in both.
std::vector<ComparedMetric> compare(const std::vector<store::StoredFold>& first,
                                    const std::vector<store::StoredFold>& second);

/// The folds that have succeeded in both.
std::vector<std::int64_t> shared_folds(const std::vector<store::StoredFold>& first,
                                       const std::vector<store::StoredFold>& second);

}    // namespace slipway
