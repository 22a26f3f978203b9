#include "api/spec/task_spec.h"

#include <algorithm>

#include "api/base/check.h"

namespace slipway {

namespace {

using enum TaskMetric;

constexpr std::array classification_metrics{loss, accuracy, top5_accuracy, confusion_matrix};
constexpr std::array language_metrics{loss, perplexity, accuracy};
constexpr std::array multilabel_metrics{loss, accuracy, auc};
constexpr std::array regression_metrics{loss, mae, r2};

/// The first `usual` of `metrics` are measured when nothing is said.
struct TaskRow {
    TaskType type;
    std::string_view loss;
    std::span<const TaskMetric> metrics;
    std::size_t usual;
};

constexpr std::array tasks{
    TaskRow{TaskType::classification, "cross_entropy", classification_metrics, 2},
    TaskRow{TaskType::masked_lm, "cross_entropy", language_metrics, 2},
    TaskRow{TaskType::causal_lm, "cross_entropy", language_metrics, 2},
    TaskRow{TaskType::multilabel, "binary_cross_entropy", multilabel_metrics, 3},
    TaskRow{TaskType::regression, "mean_squared_error", regression_metrics, 3},
};
static_assert(tasks.size() == all_words<TaskType>().size());

const TaskRow& row_of(TaskType type) {
    const auto row = std::ranges::find(tasks, type, &TaskRow::type);
    check(row != tasks.end(), "every task of the job spec has its metrics");
    return *row;
}

struct MetricRow {
    TaskMetric metric;
    std::optional<MetricMode> better;
};

constexpr std::array metrics{
    MetricRow{loss, MetricMode::min},          MetricRow{accuracy, MetricMode::max},
    MetricRow{perplexity, MetricMode::min},    MetricRow{top5_accuracy, MetricMode::max},
    MetricRow{confusion_matrix, std::nullopt}, MetricRow{auc, MetricMode::max},
    MetricRow{mae, MetricMode::min},           MetricRow{r2, MetricMode::max},
};
static_assert(metrics.size() == all_words<TaskMetric>().size());

}    // namespace

std::string_view loss_of(TaskType type) {
    return row_of(type).loss;
}

std::span<const TaskMetric> metrics_of(TaskType type) {
    return row_of(type).metrics;
}

std::vector<TaskMetric> usual_metrics(TaskType type) {
    const TaskRow& row = row_of(type);
    return {row.metrics.begin(), row.metrics.begin() + std::ptrdiff_t(row.usual)};
}

std::optional<MetricMode> better(TaskMetric metric) {
    const auto row = std::ranges::find(metrics, metric, &MetricRow::metric);
    check(row != metrics.end(), "every metric of the job spec has its row");
    return row->better;
}

std::optional<TaskMetric> validation_metric(std::string_view name) {
    constexpr std::string_view validation_prefix = "val_";
    if (!name.starts_with(validation_prefix)) return std::nullopt;
    return parse_word<TaskMetric>(name.substr(validation_prefix.size()));
}

}    // namespace slipway
