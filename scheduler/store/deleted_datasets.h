#pragma once

#include "scheduler/store/store.h"

namespace slipway::store {

/// How far the removal of what one deleted dataset has left has come.
struct DatasetClearing {
    std::string dataset_id{};    ///< empty: the dataset that has waited longest is next
    std::string split_id{};      ///< of the last split that is gone
    std::string job_id{};        ///< of the last job that no longer names it
};

/// Of one deleted dataset (see delete_dataset): removes splits, whose manifests become garbage, and
/// takes it from the jobs that ran on it, at most `rows_max` rows together in one transaction.
/// Moves `clearing` on, or back to empty when nothing refers to it. False when there was nothing to
/// do: no deleted dataset is left, or other processes are at all of them.
bool clear_deleted_dataset(Store& store, DatasetClearing& clearing, int rows_max);

}    // namespace slipway::store
