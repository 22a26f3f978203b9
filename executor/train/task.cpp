#include "executor/train/task.h"

#include <algorithm>
#include <array>

#include "executor/train/tasks/causal_lm.h"
#include "executor/train/tasks/classification.h"
#include "executor/train/tasks/masked_lm.h"
#include "executor/train/tasks/multilabel.h"
#include "executor/train/tasks/regression.h"

namespace slipway {

namespace {

struct TaskRow {
    TaskType type;
    Task (*make)(const JobSpec& spec, const std::vector<std::string>& names);
};

template <Task (*make)(const JobSpec& spec)>
Task without_names(const JobSpec& spec, const std::vector<std::string>&) {
    return make(spec);
}

constexpr std::array task_rows{
    TaskRow{TaskType::classification, classification},
    TaskRow{TaskType::masked_lm, without_names<masked_lm>},
    TaskRow{TaskType::causal_lm, without_names<causal_lm>},
    TaskRow{TaskType::multilabel, multilabel},
    TaskRow{TaskType::regression, regression},
};
static_assert(task_rows.size() == all_words<TaskType>().size());

}    // namespace

Task make_task(const JobSpec& spec, const std::vector<std::string>& names) {
    const auto row = std::ranges::find(task_rows, spec.task.type, &TaskRow::type);
    check(row != task_rows.end(), "every task of the job spec has a row");
    return row->make(spec, names);
}

bool measures(const JobSpec& spec, TaskMetric metric) {
    return std::ranges::find(spec.task.metrics, metric) != spec.task.metrics.end();
}

}    // namespace slipway
