#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/spec/spelling.h"
#include "api/spec/train_spec.h"

namespace slipway {

// The part `task` of a job spec, as job_spec.h the whole.

/// multilabel: each label there or not, by itself; regression: labels are any numbers.
enum class TaskType { classification, masked_lm, causal_lm, multilabel, regression };
enum class TaskMetric { loss, accuracy, perplexity, top5_accuracy, confusion_matrix, auc, mae, r2 };

/// `task`. The metrics of a language model are loss and perplexity unless it says otherwise.
struct TaskSpec {
    TaskType type = TaskType::classification;
    std::vector<TaskMetric> metrics{TaskMetric::loss, TaskMetric::accuracy};
    double label_smoothing = 0;    ///< classification: in [0, 1)
    bool operator==(const TaskSpec&) const = default;
};

/// The name of the loss function that a task minimises.
std::string_view loss_of(TaskType type);
/// What a task can measure, the loss first.
std::span<const TaskMetric> metrics_of(TaskType type);
/// What it measures when the spec does not say.
std::vector<TaskMetric> usual_metrics(TaskType type);
/// Which values of it are the better ones; none: it is not one number.
std::optional<MetricMode> better(TaskMetric metric);
/// The metric that a name such as val_loss means; none when there is no such.
std::optional<TaskMetric> validation_metric(std::string_view name);

template <>
struct Spelling<TaskType> {
    static constexpr std::array<std::string_view, 5> words{"classification", "masked_lm",
                                                           "causal_lm", "multilabel", "regression"};
};
template <>
struct Spelling<TaskMetric> {
    static constexpr std::array<std::string_view, 8> words{
        "loss", "accuracy", "perplexity", "top5_accuracy", "confusion_matrix", "auc", "mae", "r2"};
};

}    // namespace slipway
