// Jobs are taken in the order in which they ended, some at a time. First they are marked as pruned,
// then rows of theirs go in batches, each in a transaction of its own with the mark of the kind
// locked; when a batch finds fewer rows than it may remove, the mark moves behind these jobs. So a
// crash between two batches costs nothing, and no job is looked at twice. Rows are deleted rather
// than partitions dropped: events and points lie in the order of their jobs' training, not of their
// ends, so that no partition would be free as long as one long job runs.
#include "scheduler/store/retention.h"

#include <array>

#include "scheduler/store/jobs.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/prune.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

// The leader's thread that prunes also places jobs, which wait for a batch to end.
constexpr int jobs_at_once = 100;
constexpr int deleted_jobs_at_once = 20;
constexpr int rows_at_once = int(pruned_at_once);

struct DueJobs {
    std::vector<std::string> ids;
    bool more = false;
};

DueJobs list_due(Transaction& transaction, std::string_view kind, int days) {
    DueJobs due;
    for (const Row row : transaction.run(queries::list_past_retention, {kind, days, jobs_at_once}))
        due.ids.push_back(row.text("id"));
    due.more = due.ids.size() == std::size_t(jobs_at_once);
    return due;
}

using Ids = std::vector<std::string>;

/// Each removes at most rows_at_once rows of these jobs; how many.
std::int64_t prune_events(Transaction& transaction, const Ids& ids) {
    static const std::vector<std::string> types{"progress", "metric", "checkpoint", "compile"};
    return transaction.run(queries::prune_job_events, {ids, types, rows_at_once}).affected();
}

std::int64_t prune_logs(Transaction& transaction, const Ids& ids) {
    static const std::vector<std::string> types{"log", "warning"};
    return transaction.run(queries::prune_job_events, {ids, types, rows_at_once}).affected();
}

std::int64_t prune_metrics(Transaction& transaction, const Ids& ids) {
    return transaction.run(queries::prune_job_metrics, {ids, rows_at_once}).affected();
}

std::int64_t prune_checkpoints(Transaction& transaction, const Ids& ids) {
    std::vector<std::string> surplus;
    for (const Row row : transaction.run(queries::lock_surplus_checkpoints, {ids, rows_at_once}))
        surplus.push_back(row.text("id"));
    if (!surplus.empty()) transaction.run(queries::prune_surplus_checkpoints, {surplus});
    return std::int64_t(surplus.size());
}

using Prune = std::int64_t (*)(Transaction&, const Ids&);

/// A job that came into use meanwhile is left to the next time.
bool is_deleted(Store& store, const std::string& id) {
    try {
        return delete_job(store, id);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::conflict) throw;
        return false;
    }
}

RetentionBatch delete_jobs(Store& store, int days, const LeaderTerm& term) {
    const std::vector<Rows> answers = write_as_leader(
        store.pool(), term, {{&queries::list_jobs_past_retention, {days, deleted_jobs_at_once}}});
    const Rows& due = answers[0];
    RetentionBatch batch;
    for (const Row row : due)
        batch.removed += is_deleted(store, row.text("id"));
    batch.more = due.size() == deleted_jobs_at_once && batch.removed > 0;
    return batch;
}

struct KindRow {
    std::string_view name;
    Prune prune;     ///< none: whole jobs
    bool is_told;    ///< on the job, since nothing else says that it is gone
};
constexpr std::array<KindRow, retained_kinds> kind_rows{{{"events", prune_events, true},
                                                         {"logs", prune_logs, true},
                                                         {"metrics", prune_metrics, true},
                                                         {"checkpoints", prune_checkpoints, false},
                                                         {"jobs", nullptr, false}}};

RetentionBatch prune_rows(Store& store, const KindRow& kind, int days, const LeaderTerm& term) {
    return transact(store.pool(), [&](Transaction& transaction) -> RetentionBatch {
        const DueJobs due = list_due(transaction, kind.name, days);
        if (due.ids.empty()) return {};
        if (kind.is_told) transaction.run(queries::mark_pruned, {due.ids, kind.name});
        const std::int64_t removed = kind.prune(transaction, due.ids);
        std::vector<Statement> last;
        const bool is_done = removed < rows_at_once;
        if (is_done) last.push_back({&queries::advance_retention, {kind.name, due.ids.back()}});
        if (term.number > 0) last.push_back(check_statement(term));
        transaction.commit(std::move(last));
        return {.removed = removed, .more = !is_done || due.more};
    });
}

const KindRow& row_of(RetainedKind kind) {
    return kind_rows.at(std::size_t(kind));
}

}    // namespace

std::string_view to_string(RetainedKind kind) {
    return row_of(kind).name;
}

RetentionBatch apply_retention(Store& store, RetainedKind kind, int days, const LeaderTerm& term) {
    const KindRow& row = row_of(kind);
    return row.prune == nullptr ? delete_jobs(store, days, term)
                                : prune_rows(store, row, days, term);
}

RetentionDue preview_retention(Store& store, RetainedKind kind, int days) {
    RetentionDue due;
    if (kind == RetainedKind::jobs) {
        const Rows rows =
            read(store.pool(), queries::count_jobs_past_retention, {days, retention_counted_max});
        return {.jobs = rows[0].integer("jobs"),
                .checkpoints = rows[0].integer("checkpoints"),
                .checkpoint_bytes = rows[0].integer("bytes")};
    }
    due.jobs = read(store.pool(), queries::count_past_retention,
                    {to_string(kind), days, retention_counted_max})[0]
                   .integer("jobs");
    if (kind == RetainedKind::checkpoints) {
        const Rows rows =
            read(store.pool(), queries::count_surplus_checkpoints, {days, retention_counted_max});
        due.checkpoints = rows[0].integer("checkpoints");
        due.checkpoint_bytes = rows[0].integer("bytes");
    }
    return due;
}

}    // namespace slipway::store
