#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>

#include "server/http/connection.h"
#include "server/http/exchange.h"

namespace slipway {

/// Calls the route's handler on its lane, again as long as it asks for that, and fills in the
/// response; one that says so when too many requests wait there.
asio::awaitable<void> call_handler(Connection& connection, Exchange& exchange);

/// Asks whether the body may come at all. False: there is a response that says why not.
asio::awaitable<bool> ask_admission(Connection& connection, Exchange& exchange);

/// Asks the route's receiver where the body goes. None: there is a response that says why not.
asio::awaitable<std::optional<BodyTarget>> ask_receiver(Connection& connection, Exchange& exchange);

}    // namespace slipway
