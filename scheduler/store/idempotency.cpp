#include "scheduler/store/idempotency.h"

#include <fmt/core.h>

#include "scheduler/store/idempotency_steps.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

IdempotencyMismatch::IdempotencyMismatch(const std::string& key)
    : Error(ErrorCode::conflict,
            fmt::format("the idempotency key \"{}\" was used with another request", key)) {}

IdempotencyInFlight::IdempotencyInFlight(const std::string& key)
    : Error(
          ErrorCode::conflict,
          fmt::format("the first request with the idempotency key \"{}\" is still running", key)) {}

IdempotencyUnknown::IdempotencyUnknown(const std::string& key)
    : Error(ErrorCode::conflict,
            fmt::format("the first request with the idempotency key \"{}\" started, but its "
                        "response was not stored, so it is not repeated: check whether it had its "
                        "effect, and if it did not, send it with another key",
                        key)) {}

std::optional<StoredResponse> claim_key(Transaction& transaction, const IdempotentRequest& request,
                                        Repeat repeat) {
    const Rows claimed = transaction.run(
        queries::claim_idempotency_key,
        {request.token_id, request.key, request.body_hash, repeat == Repeat::harmless});
    if (!claimed.empty()) return std::nullopt;
    const Rows known =
        transaction.run(queries::find_idempotency_key, {request.token_id, request.key});
    // Abandoned or pruned between the two statements: as good as still running.
    if (known.empty()) throw IdempotencyInFlight(request.key);
    const Row row = known[0];
    if (row.text("body_hash") != request.body_hash) throw IdempotencyMismatch(request.key);
    if (row.flag("orphaned")) throw IdempotencyUnknown(request.key);
    if (row.is_null("status")) throw IdempotencyInFlight(request.key);
    return StoredResponse{row.small("status"), row.text("body"), row.text("location")};
}

Statement keep_answer(const IdempotentRequest& request, const StoredResponse& response) {
    return {&queries::finish_idempotency_key,
            {request.token_id, request.key, response.status, response.body, response.location}};
}

std::optional<StoredResponse> begin_idempotent(Store& store, const IdempotentRequest& request,
                                               Repeat repeat) {
    return transact(store.pool(), [&](Transaction& transaction) {
        return claim_key(transaction, request, repeat);
    });
}

void finish_idempotent(Store& store, const IdempotentRequest& request,
                       const StoredResponse& response) {
    const Statement keep = keep_answer(request, response);
    transact(store.pool(), [&](Transaction& transaction) { transaction.commit({keep}); });
}

void abandon_idempotent(Store& store, const IdempotentRequest& request) {
    write(store.pool(), queries::abandon_idempotency_key, {request.token_id, request.key});
}

}    // namespace slipway::store
