#include "executor/train/task.h"

#include <algorithm>
#include <array>

#include "executor/train/tasks/classification.h"

namespace slipway {

namespace {

struct TaskRow {
    TaskType type;
    Task (*make)(const JobSpec& spec);
};

constexpr std::array rows{
    TaskRow{TaskType::classification, classification},
};
static_assert(rows.size() == all_words<TaskType>().size());

}    // namespace

Task make_task(const JobSpec& spec) {
    const auto row = std::ranges::find(rows, spec.task.type, &TaskRow::type);
    check(row != rows.end(), "every task of the job spec has a row");
    return row->make(spec);
}

}    // namespace slipway
