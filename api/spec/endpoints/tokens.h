#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints of tokens, and of who the caller is.
namespace slipway::token_endpoints {

using namespace endpoint_parts;

inline constexpr auto revoking = std::to_array<QueryParameter>({
    {.name = "keep_made",
     .type = QueryType::flag,
     .summary =
         "Keep the tokens that this token created. Use it for a lost token, not for a stolen one.",
     .standard = "false"},
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "get_me",
     .method = "GET",
     .path = "/v1/me",
     .group = "access",
     .summary = "Get the identity and the permissions of the calling token.",
     .access = Access::known,
     .response = "Me"},
    {.name = "create_token",
     .method = "POST",
     .path = "/v1/tokens",
     .group = "access",
     .summary = "Create a token. Its secret is returned only once.",
     .access = Access::admin,
     .request = "TokenCreate",
     .response = "IssuedToken",
     .success = 201,
     .errors = creates},
    {.name = "list_tokens",
     .method = "GET",
     .path = "/v1/tokens",
     .group = "access",
     .summary = "List tokens, newest first, without their secrets.",
     .access = Access::admin,
     .response = "TokenList",
     .errors = queries,
     .query = paging},
    {.name = "revoke_token",
     .method = "DELETE",
     .path = "/v1/tokens/{id}",
     .group = "access",
     .summary =
         "Revoke a token, and the tokens that it created, with immediate effect. Safe to repeat.",
     .access = Access::admin,
     .success = 204,
     .errors = finds,
     .query = revoking},
});

}    // namespace slipway::token_endpoints
