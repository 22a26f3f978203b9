#include "scheduler/store/prune.h"

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

std::int64_t prune_by(Store& store, const Query& query, const LeaderTerm& term) {
    return write_as_leader(store.pool(), term, {{&query, {pruned_at_once}}})[0].affected();
}

}    // namespace

std::int64_t prune_idempotency_keys(Store& store, const LeaderTerm& term) {
    return prune_by(store, queries::prune_idempotency_keys, term);
}

std::int64_t prune_surplus_keys(Store& store, std::int64_t keep, const LeaderTerm& term) {
    return write_as_leader(store.pool(), term,
                           {{&queries::prune_surplus_keys, {keep, pruned_at_once}}})[0]
        .affected();
}

std::int64_t prune_audit(Store& store, std::chrono::milliseconds keep, const LeaderTerm& term) {
    return write_as_leader(store.pool(), term, {{&queries::prune_audit, {keep, pruned_at_once}}})[0]
        .affected();
}

std::int64_t prune_login_tickets(Store& store, const LeaderTerm& term) {
    return prune_by(store, queries::prune_login_tickets, term);
}

std::int64_t prune_sessions(Store& store, const LeaderTerm& term) {
    return prune_by(store, queries::prune_sessions, term);
}

std::int64_t prune_uploads(Store& store, const LeaderTerm& term) {
    return transact(store.pool(), [&](Transaction& transaction) {
        std::vector<std::string> ids;
        for (const Row row : transaction.run(queries::lock_expired_uploads, {pruned_at_once}))
            ids.push_back(row.text("id"));
        std::vector<Statement> last{{&queries::prune_uploads, {ids}}};
        if (term.number > 0) last.push_back(check_statement(term));
        return transaction.commit(std::move(last))[0].affected();
    });
}

}    // namespace slipway::store
