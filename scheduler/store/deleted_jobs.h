#pragma once

#include <limits>

#include "scheduler/store/store.h"

namespace slipway::store {

/// How far the removal of one deleted job's rows has come.
struct Clearing {
    std::string job_id{};    ///< empty: the job that has waited longest is next
    std::string name{};      ///< of the last chunk of a metric that is gone
    std::int64_t step = std::numeric_limits<std::int64_t>::min();
    std::int64_t seq = 0;             ///< of the last event that is gone
    std::string checkpoint_name{};    ///< of the last checkpoint that is gone
};

/// Removes at most `rows_max` chunks of metrics, events and checkpoints of one deleted job (see
/// delete_job) in one transaction and moves `clearing` on, or back to empty when the job has none
/// left. False when there was nothing to do: no deleted job is left, or other processes are at all
/// of them.
bool clear_deleted_job(Store& store, Clearing& clearing, int rows_max);

}    // namespace slipway::store
