#pragma once

#include <optional>

#include "server/http/exchange.h"
#include "server/http/problem.h"

namespace slipway {

/// Fills in the route of the request. Without one: the answer 404, 405, or that to OPTIONS.
std::optional<Response> find_route(const ServerCore& core, Exchange& exchange);

/// What can be said against a body before a byte of it is read. The exchange has a route.
std::optional<ProblemError::Fields> body_problem(const Exchange& exchange);

}    // namespace slipway
