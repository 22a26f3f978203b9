#pragma once

#include <string>
#include <string_view>

#include "api/base/json.h"
#include "api/client/http_client.h"

namespace slipway::client {

/// What a file may describe. Each kind has a command of its own.
enum class RequestKind { job, sweep, cross_validation, inference };

/// Posts a document; the answer. errors  throws Stop, as require_accepted
/// Warnings of the answer go to standard error.
Json post_document(const HttpClient& client, const std::string& target, const std::string& body,
                   RequestKind kind);

/// As require_success. When the service rejects `body` as a `kind`, and its fields are those of
/// another kind, the message says which command takes it.
/// errors  throws Stop
void require_accepted(const ClientResponse& response, const std::string& body, RequestKind kind);

}    // namespace slipway::client
