#include "executor/train/tasks/token_metrics.h"

#include <algorithm>
#include <cmath>

namespace slipway {

TokenMetrics::TokenMetrics(const JobSpec& spec)
    : perplexity(std::ranges::count(spec.task.metrics, TaskMetric::perplexity) > 0),
      accuracy(std::ranges::count(spec.task.metrics, TaskMetric::accuracy) > 0) {}

std::vector<TaskSum> TokenMetrics::named(const TokenSums& sums) const {
    std::vector<TaskSum> named{{"loss", sums.loss}, {"labels", sums.count}};
    if (accuracy) named.push_back({"correct", sums.correct});
    return named;
}

MetricValues TokenMetrics::values(const MetricSums& sums) const {
    MetricValues values{{"loss", sums.mean("loss")}};
    if (perplexity) values.emplace_back("perplexity", std::exp(sums.mean("loss")));
    if (accuracy) values.emplace_back("accuracy", sums.mean("correct"));
    return values;
}

}    // namespace slipway
