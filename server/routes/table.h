#pragma once

#include <span>
#include <string_view>

#include "server/http/router.h"
#include "server/routes/guard.h"
#include "server/routes/services.h"

namespace slipway {

/// Which function answers an endpoint of api/spec/endpoints.
struct RouteRow {
    std::string_view endpoint;    ///< the endpoint's name
    GuardedRoute route;
};

/// One row for each endpoint.
std::span<const RouteRow> route_rows();

/// A second address of an endpoint.
struct RouteAlias {
    std::string_view path;
    std::string_view endpoint;
};
std::span<const RouteAlias> route_aliases();

/// The whole URL space: endpoints, aliases and the dashboard's files. `services` outlives it.
/// An endpoint without a row is a bug.
Router make_router(Services& services);

}    // namespace slipway
