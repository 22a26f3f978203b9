#include "scheduler/store/deleted_jobs.h"

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

/// How many of the job's points went; at most `rows_max`.
int clear_points(Transaction& transaction, Clearing& clearing, int rows_max) {
    const Rows rows = transaction.run(queries::clear_points,
                                      {clearing.job_id, clearing.name, clearing.step, rows_max});
    if (rows.empty()) return 0;
    clearing.name = rows[0].text("name");
    clearing.step = rows[0].integer("step");
    return rows[0].small("points");
}

int clear_events(Transaction& transaction, Clearing& clearing, int rows_max) {
    const Rows rows =
        transaction.run(queries::clear_events, {clearing.job_id, clearing.seq, rows_max});
    if (rows[0].small("events") > 0) clearing.seq = rows[0].integer("seq");
    return rows[0].small("events");
}

/// The place after one batch; nothing when there is no job to go on with.
std::optional<Clearing> clear_in(Transaction& transaction, Clearing clearing, int rows_max) {
    const Rows claimed =
        transaction.run(queries::claim_deleted_job, {Param::or_null(clearing.job_id)});
    if (claimed.empty()) return std::nullopt;
    clearing.job_id = claimed[0].text("id");
    int rows_left = rows_max - clear_points(transaction, clearing, rows_max);
    if (rows_left > 0) rows_left -= clear_events(transaction, clearing, rows_left);
    if (rows_left == 0) return clearing;
    transaction.commit({{&queries::forget_deleted_job, {clearing.job_id}}});
    return Clearing{};
}

}    // namespace

bool clear_deleted_job(Store& store, Clearing& clearing, int rows_max) {
    const std::optional<Clearing> next = transact(store.pool(), [&](Transaction& transaction) {
        return clear_in(transaction, clearing, rows_max);
    });
    // The job that was begun may be another process's now: the next call looks for any.
    const bool went_on = next || !clearing.job_id.empty();
    clearing = next.value_or(Clearing{});
    return went_on;
}

}    // namespace slipway::store
