#pragma once

#include "scheduler/store/idempotency.h"
#include "scheduler/store/pg/connection.h"

// The steps of idempotency inside of another transaction: for submit_job.
namespace slipway::store {

/// Takes the key: nothing when the work is the caller's, else the first answer. Waits while another
/// transaction holds the same key. Throws IdempotencyMismatch, IdempotencyInFlight,
/// IdempotencyUnknown.
std::optional<StoredResponse> claim_key(Transaction& transaction, const IdempotentRequest& request,
                                        Repeat repeat);

/// The statement that stores the answer under the key.
Statement keep_answer(const IdempotentRequest& request, const StoredResponse& response);

}    // namespace slipway::store
