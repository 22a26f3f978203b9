#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "server/http/message.h"

namespace slipway {

/// What the head of an answer depends on besides the answer.
struct AnswerFacts {
    Instant now;
    bool close = false;        ///< the connection ends after it
    bool http_1_1 = true;      ///< an event stream is sent in chunks, else until the end
    bool head_only = false;    ///< HEAD: the length of the body is told, the body is not sent
    std::string request_id;
    std::string traceparent = {};    ///< empty: none
    bool secure = false;
};

/// Judges the request's preconditions on an answer to GET or HEAD that has an ETag (RFC 9110,
/// 13.2.2): 412 when If-Match does not name it, else 304 when If-None-Match does. Removes the body
/// of statuses that have none (204, 304).
void settle(const Request& request, Response& response);

/// The status line and all headers, blank line included. Adds what the server adds to every answer
/// (Response says what); a header of the handler wins over the server's.
/// errors  throws internal when a header's name or value could break the message
std::string encode_head(const Response& response, const AnswerFacts& facts);

/// How many bytes the body has; none for an event stream.
std::optional<std::uint64_t> body_bytes_of(const Response& response);

/// The bytes of a body held in memory: `embedded` or `body`.
std::string_view memory_body_of(const Response& response);

/// The traceparent of the answering span, within the client's; empty unless the request has exactly
/// one, which is valid.
std::string continue_trace(const Request& request);

/// The client's X-Request-Id when it is 1 to 64 of [A-Za-z0-9._-], else a new id.
std::string choose_request_id(const Request& request, const Clock& clock);

}    // namespace slipway
