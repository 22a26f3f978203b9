#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "server/http/connection.h"
#include "server/http/head.h"
#include "server/http/message.h"

namespace slipway {

/// How reading a body ended.
struct BodyEnd {
    enum class Kind { complete, refused, broken } kind = Kind::complete;
    Refusal refusal = {};    ///< too large, malformed chunks, too slow, disk full
};

/// Reads the body that `head` announces into `request.body`, or into `target` when given, and sets
/// `request.received_bytes`. What belongs to the next request stays in the connection's buffer. A
/// body slower than the minimum rate is refused (408), one larger than `bytes_max` before it is
/// read where its length is known (413). A client that waits for "100 Continue" is then told to go
/// on. Bytes kept in memory are taken from `share` (503 when the budget is used up).
asio::awaitable<BodyEnd> read_body(Connection& connection, const RequestHead& head,
                                   Request& request, ByteShare& share, const BodyTarget* target,
                                   std::uint64_t bytes_max);

}    // namespace slipway
