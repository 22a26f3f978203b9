#include "executor/train/task.h"

#include <algorithm>
#include <array>

#include "executor/train/tasks/causal_lm.h"
#include "executor/train/tasks/classification.h"
#include "executor/train/tasks/masked_lm.h"

namespace slipway {

namespace {

struct TaskRow {
    TaskType type;
    Task (*make)(const JobSpec& spec);
};

constexpr std::array rows{
    TaskRow{TaskType::classification, classification},
    TaskRow{TaskType::masked_lm, masked_lm},
    TaskRow{TaskType::causal_lm, causal_lm},
};
static_assert(rows.size() == all_words<TaskType>().size());

}    // namespace

Task make_task(const JobSpec& spec) {
    const auto row = std::ranges::find(rows, spec.task.type, &TaskRow::type);
    check(row != rows.end(), "every task of the job spec has a row");
    return row->make(spec);
}

}    // namespace slipway
