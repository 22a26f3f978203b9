#pragma once

#include <functional>
#include <optional>
#include <string>

#include "scheduler/store/idempotency.h"
#include "server/auth/identity.h"
#include "server/http/message.h"

namespace slipway {

/// What makes this request the same as an earlier one; none without an Idempotency-Key.
/// errors  throws 400 `invalid_idempotency_key` when it is not 1 to 128 visible characters
std::optional<store::IdempotentRequest> idempotent_request(const Request& request,
                                                           const Identity& who);

/// Does `work` at most once for a key: a repeated request gets the first answer again, marked
/// `Idempotency-Replayed: true`. Refusals (4xx, 5xx) are not kept: a corrected or later request may
/// use the same key. An answer that cannot be stored is sent all the same. `secret_member` of the
/// answer is not stored.
Response once(store::Store& store, const store::IdempotentRequest& request, store::Repeat repeat,
              const std::function<Response()>& work, std::string_view secret_member = {});

store::StoredResponse to_stored(const Response& response);
Response from_stored(const store::StoredResponse& stored, bool replayed);

/// The JSON text with sorted names and without spaces, so that the same body in another spelling is
/// the same; other text as it is.
std::string canonical_body(const std::string& body);

}    // namespace slipway
