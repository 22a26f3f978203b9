#pragma once

#include "scheduler/store/store.h"

namespace slipway::store {

/// An answer as the client saw it, kept 24 hours for repeated requests.
struct StoredResponse {
    int status = 200;
    JsonText body{};
    std::string location{};    ///< header Location, or empty
};

/// What makes two requests "the same": who asks, the key he chose, and a hash of method, path and
/// canonical body.
struct IdempotentRequest {
    std::string token_id{};
    std::string key{};          ///< 1 to 128 characters, checked by the route
    std::string body_hash{};    ///< hexadecimal
};

/// The key was used with another body (422 idempotency_key_reused).
class IdempotencyMismatch : public Error {
public:
    explicit IdempotencyMismatch(const std::string& key);
};

/// The first request with this key is still running (409 idempotency_in_flight).
class IdempotencyInFlight : public Error {
public:
    explicit IdempotencyInFlight(const std::string& key);
};

/// What became of the first request with this key cannot be known: its process died, or its answer
/// could not be stored (409 idempotency_outcome_unknown). It is not done again.
class IdempotencyUnknown : public Error {
public:
    explicit IdempotencyUnknown(const std::string& key);
};

/// Whether work that may have been done already is done again: what ends in the same state is, what
/// makes something new is not.
enum class Repeat { harmless, forbidden };

/// For POSTs other than submit_job: marks the key as running and returns nothing (go ahead, then
/// call finish_idempotent or abandon_idempotent), or returns the first answer. A mark that has had
/// no answer for 60 s is taken over where `repeat` is harmless, else it is IdempotencyUnknown.
/// Throws IdempotencyMismatch, IdempotencyInFlight.
std::optional<StoredResponse> begin_idempotent(Store& store, const IdempotentRequest& request,
                                               Repeat repeat);

/// Keeps the answer. Only answers below 500 are worth keeping.
void finish_idempotent(Store& store, const IdempotentRequest& request,
                       const StoredResponse& response);

/// Forgets the mark, so that the client may try again.
void abandon_idempotent(Store& store, const IdempotentRequest& request);

}    // namespace slipway::store
