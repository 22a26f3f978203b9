#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/connection.h"
#include "server/http/exchange.h"
#include "server/http/head.h"

namespace slipway {

/// Waits for the next request's first byte. False: the connection ends here, quietly.
asio::awaitable<bool> wait_for_request(Connection& connection, bool first);

/// Reads until the head is complete and takes it out of the buffer; or says why it is refused; or
/// neither: the client has gone.
asio::awaitable<std::optional<std::string>> read_head(Connection& connection,
                                                      std::optional<Refusal>& refusal);

/// Fills in the request from its head; or says why it is refused.
std::optional<Refusal> understand(std::string_view bytes, const HttpLimits& limits,
                                  Exchange& exchange);

/// Fills in where the request comes from, and judges that.
std::optional<Refusal> locate(Connection& connection, Exchange& exchange);

}    // namespace slipway
