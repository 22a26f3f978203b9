#include "scheduler/store/deleted_datasets.h"

#include "scheduler/store/clear_deleted.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

/// How many of the dataset's splits went; at most `rows_max`.
int clear_splits(Transaction& transaction, DatasetClearing& clearing, int rows_max) {
    const Rows rows =
        transaction.run(queries::clear_splits, {clearing.dataset_id, clearing.split_id, rows_max});
    if (rows[0].small("splits") > 0) clearing.split_id = rows[0].text("id");
    return rows[0].small("splits");
}

int release_jobs(Transaction& transaction, DatasetClearing& clearing, int rows_max) {
    const Rows rows =
        transaction.run(queries::release_jobs, {clearing.dataset_id, clearing.job_id, rows_max});
    if (rows[0].small("jobs") > 0) clearing.job_id = rows[0].text("id");
    return rows[0].small("jobs");
}

int clear_rows_of_dataset(Transaction& transaction, DatasetClearing& clearing, int rows_max) {
    const int rows = clear_splits(transaction, clearing, rows_max);
    return rows == rows_max ? rows : rows + release_jobs(transaction, clearing, rows_max - rows);
}

}    // namespace

bool clear_deleted_dataset(Store& store, DatasetClearing& clearing, int rows_max) {
    return clear_deleted(
        store, {.claim = queries::claim_deleted_dataset, .forget = queries::forget_deleted_dataset},
        clearing, &DatasetClearing::dataset_id, rows_max, clear_rows_of_dataset);
}

}    // namespace slipway::store
