#include "scheduler/store/deleted_datasets.h"

#include "scheduler/store/pg/pool.h"
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

/// The place after one batch; nothing when there is no dataset to go on with.
std::optional<DatasetClearing> clear_dataset_in(Transaction& transaction, DatasetClearing clearing,
                                                int rows_max) {
    const Rows claimed =
        transaction.run(queries::claim_deleted_dataset, {Param::or_null(clearing.dataset_id)});
    if (claimed.empty()) return std::nullopt;
    clearing.dataset_id = claimed[0].text("id");
    int rows_left = rows_max - clear_splits(transaction, clearing, rows_max);
    if (rows_left > 0) rows_left -= release_jobs(transaction, clearing, rows_left);
    if (rows_left == 0) return clearing;
    transaction.commit({{&queries::forget_deleted_dataset, {clearing.dataset_id}}});
    return DatasetClearing{};
}

}    // namespace

bool clear_deleted_dataset(Store& store, DatasetClearing& clearing, int rows_max) {
    const std::optional<DatasetClearing> next =
        transact(store.pool(), [&](Transaction& transaction) {
            return clear_dataset_in(transaction, clearing, rows_max);
        });
    // The dataset that was begun may be another process's now: the next call looks for any.
    const bool went_on = next || !clearing.dataset_id.empty();
    clearing = next.value_or(DatasetClearing{});
    return went_on;
}

}    // namespace slipway::store
