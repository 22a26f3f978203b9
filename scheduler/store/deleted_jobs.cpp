#include "scheduler/store/deleted_jobs.h"

#include "scheduler/store/clear_deleted.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

/// How many chunks of the job's metrics went; at most `rows_max`.
int clear_chunks(Transaction& transaction, Clearing& clearing, int rows_max) {
    const Rows rows = transaction.run(queries::clear_chunks,
                                      {clearing.job_id, clearing.name, clearing.step, rows_max});
    if (rows.empty()) return 0;
    clearing.name = rows[0].text("name");
    clearing.step = rows[0].integer("step_first");
    return rows[0].small("chunks");
}

int clear_events(Transaction& transaction, Clearing& clearing, int rows_max) {
    const Rows rows =
        transaction.run(queries::clear_events, {clearing.job_id, clearing.seq, rows_max});
    if (rows[0].small("events") > 0) clearing.seq = rows[0].integer("seq");
    return rows[0].small("events");
}

int clear_checkpoints(Transaction& transaction, Clearing& clearing, int rows_max) {
    const Rows rows = transaction.run(queries::clear_checkpoints,
                                      {clearing.job_id, clearing.checkpoint_name, rows_max});
    if (rows[0].small("checkpoints") > 0) clearing.checkpoint_name = rows[0].text("name");
    return rows[0].small("checkpoints");
}

int clear_rows_of_job(Transaction& transaction, Clearing& clearing, int rows_max) {
    int rows = 0;
    for (const auto clear : {clear_chunks, clear_events, clear_checkpoints}) {
        rows += clear(transaction, clearing, rows_max - rows);
        if (rows == rows_max) break;
    }
    return rows;
}

}    // namespace

bool clear_deleted_job(Store& store, Clearing& clearing, int rows_max) {
    return clear_deleted(
        store, {.claim = queries::claim_deleted_job, .forget = queries::forget_deleted_job},
        clearing, &Clearing::job_id, rows_max, clear_rows_of_job);
}

}    // namespace slipway::store
