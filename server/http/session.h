#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "server/http/connection.h"

namespace slipway {

/// Serves one connection from its first byte to its close: reads requests one after the other,
/// guards their framing, has them answered and writes the answers. The seam where what handlers
/// throw becomes a problem body. After any refusal of the guard the connection is closed, and what
/// the client sent after the refused head is never read as a request.
asio::awaitable<void> serve(std::shared_ptr<Connection> connection);

}    // namespace slipway
