#include "scheduler/store/invariants.h"

#include <array>

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

struct InvariantRow {
    Invariant invariant;
    const Query& query;
};

const std::array<InvariantRow, 13> invariant_rows{{
    {{"one_end", "a job has ended once or not at all"}, queries::break_one_end},
    {{"legal_history", "the states of a job are a path of the table of moves"},
     queries::break_legal_history},
    {{"gap_free_events", "the events of a job are numbered without gaps"},
     queries::break_gap_free_events},
    {{"numbered_attempts", "the attempts of a job are numbered without gaps"},
     queries::break_numbered_attempts},
    {{"one_live_attempt", "an active job has one live attempt, and no other job has one"},
     queries::break_one_live_attempt},
    {{"leases_of_live_attempts", "a live attempt leases its cores, and nobody else leases any"},
     queries::break_leases_of_live_attempts},
    {{"members", "a live attempt has members of successive ranks with all cores of its job"},
     queries::break_members},
    {{"queue_of_queued_jobs", "the queue holds the queued jobs and no other"},
     queries::break_queue_of_queued_jobs},
    {{"fenced_points", "no metric is written for an attempt that has ended"},
     queries::break_fenced_points},
    {{"successive_points", "the points of a metric follow one another, full chunks first"},
     queries::break_successive_points},
    {{"rollups", "a rollup holds the summaries of its chunks"}, queries::break_rollups},
    {{"fenced_checkpoints", "no checkpoint is written for an attempt that has ended"},
     queries::break_fenced_checkpoints},
    {{"kept_checkpoints", "a checkpoint that an unfinished job needs is kept"},
     queries::break_kept_checkpoints},
}};

const std::array<Invariant, invariant_rows.size()> all_invariants = [] {
    std::array<Invariant, invariant_rows.size()> invariants;
    for (std::size_t i = 0; i < invariant_rows.size(); ++i)
        invariants[i] = invariant_rows[i].invariant;
    return invariants;
}();

}    // namespace

std::span<const Invariant> invariants() {
    return all_invariants;
}

std::vector<Violation> find_violations(Store& store, const Invariant& invariant, int limit) {
    std::vector<Violation> violations;
    for (const InvariantRow& row : invariant_rows) {
        if (row.invariant.name != invariant.name) continue;
        for (const auto found : read(store.pool(), row.query, {limit}))
            violations.push_back({found.text("object"), found.text("detail")});
    }
    return violations;
}

std::vector<Checkpoint> list_newest_checkpoints(Store& store, std::string_view host,
                                                std::string_view after_job_id, int limit) {
    std::vector<Checkpoint> newest;
    for (const auto found :
         read(store.pool(), queries::list_newest_checkpoints, {after_job_id, limit, host})) {
        Checkpoint checkpoint;
        checkpoint.id = found.text("id");
        checkpoint.job_id = found.text("job_id");
        checkpoint.name = found.text("name");
        checkpoint.files = found.text("files");
        newest.push_back(std::move(checkpoint));
    }
    return newest;
}

}    // namespace slipway::store
