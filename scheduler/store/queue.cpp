#include "scheduler/store/queue.h"

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

Statement place_statement(const Placement& placement) {
    return {&queries::place_job,
            {placement.job_id, placement.host, placement.cores, placement.token, placement.lease}};
}

PlacementOutcome outcome_of(const Placement& placement, const Rows& rows) {
    if (rows.empty()) return {placement.job_id, std::nullopt};
    return {placement.job_id, rows[0].small("attempt")};
}

/// The refusals that mean "somebody else was faster": a core is leased, a job is live, a lock is
/// held. Whatever else is wrong with a placement (an unknown host gives no row) is the caller's.
bool lost_race(const PgError& error) {
    return error.sqlstate() == "23505" || error.sqlstate() == "55P03";
}

std::vector<PlacementOutcome> place_together(Store& store,
                                             const std::vector<Placement>& placements) {
    std::vector<Statement> statements;
    for (const Placement& placement : placements)
        statements.push_back(place_statement(placement));
    return transact(store.pool(), [&](Transaction& transaction) {
        const std::vector<Rows> answers = transaction.commit(statements);
        std::vector<PlacementOutcome> outcomes;
        for (std::size_t i = 0; i < placements.size(); ++i)
            outcomes.push_back(outcome_of(placements[i], answers[i]));
        return outcomes;
    });
}

PlacementOutcome place_alone(Store& store, const Placement& placement) {
    try {
        return outcome_of(placement, write(store.pool(), place_statement(placement)));
    } catch (const PgError& error) {
        // A lost race is an answer, not a failure.
        if (!lost_race(error)) throw;
        return {placement.job_id, std::nullopt};
    }
}

}    // namespace

std::vector<QueuedJob> list_queue(Store& store, int limit) {
    std::vector<QueuedJob> queue;
    for (const Row row : read(store.pool(), queries::list_queue, {limit})) {
        queue.push_back({.job_id = row.text("job_id"),
                         .project = row.text("project"),
                         .queue_class = row.text("queue_class"),
                         .class_rank = row.small("class_rank"),
                         .age_key = row.time("age_key"),
                         .cores = row.small("cores"),
                         .core_id = row.maybe_small("core_id"),
                         .not_before = row.maybe_time("not_before"),
                         .due = row.flag("due"),
                         .valid_until = row.maybe_time("valid_until"),
                         .dataset_id = row.text("dataset_id"),
                         .dataset_state = row.text("dataset_state")});
    }
    return queue;
}

std::vector<PlacementOutcome> commit_placements(Store& store,
                                                const std::vector<Placement>& placements) {
    if (placements.empty()) return {};
    std::vector<PlacementOutcome> outcomes;
    try {
        outcomes = place_together(store, placements);
    } catch (const PgError& error) {
        // One collision has undone all of them: place each by itself.
        if (!lost_race(error)) throw;
        outcomes.clear();
        for (const Placement& placement : placements)
            outcomes.push_back(place_alone(store, placement));
    }
    for (const PlacementOutcome& outcome : outcomes) {
        if (outcome.attempt) store.announce(outcome.job_id);
    }
    return outcomes;
}

std::optional<QueuePosition> find_queue_position(Store& store, std::string_view job_id) {
    const Rows rows = read(store.pool(), queries::find_queue_position, {job_id});
    if (rows.empty()) return std::nullopt;
    return QueuePosition{rows[0].small("position"), rows[0].small("cores_ahead")};
}

std::vector<QueueClassStats> queue_stats(Store& store) {
    std::vector<QueueClassStats> stats;
    for (const Row row : read(store.pool(), queries::queue_stats)) {
        stats.push_back({row.text("queue_class"), row.integer("jobs"), row.integer("cores"),
                         row.maybe_time("oldest")});
    }
    return stats;
}

}    // namespace slipway::store
