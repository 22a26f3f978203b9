#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints that sign a browser in and out.
namespace slipway::session_endpoints {

using namespace endpoint_parts;

inline constexpr auto link_query = std::to_array<QueryParameter>({
    {.name = "keep_s",
     .type = QueryType::integer,
     .summary = "Lifetime of the link in seconds.",
     .min = 60,
     .max = 600,
     .standard = "600"},
});
inline constexpr auto ticket_query = std::to_array<QueryParameter>({
    {.name = "ticket", .summary = "Secret of a one-time link."},
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "create_login_link",
     .method = "POST",
     .path = "/v1/login-links",
     .group = "access",
     .summary =
         "Create a link that signs a browser in once, with the permissions of the calling token.",
     .response = "LoginLink",
     .success = 201,
     .errors = queries,
     .query = link_query},
    {.name = "login",
     .method = "POST",
     .path = "/v1/login",
     .group = "access",
     .summary = "Exchange a token for a session cookie.",
     .access = Access::open,
     .request = "Login",
     .response = "Me",
     .errors = queries},
    {.name = "login_by_link",
     .method = "GET",
     .path = "/login",
     .group = "access",
     .summary = "Use a one-time link: sets the cookie and redirects to the dashboard.",
     .access = Access::open,
     .success = 303,
     .query = ticket_query},
    {.name = "logout",
     .method = "POST",
     .path = "/v1/logout",
     .group = "access",
     .summary = "End the browser session.",
     .access = Access::open,
     .success = 204},
});

}    // namespace slipway::session_endpoints
