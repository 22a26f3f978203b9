#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints of tokens, and of who the caller is.
namespace slipway::token_endpoints {

using namespace endpoint_parts;

inline constexpr auto revoking = std::to_array<QueryParameter>({
    {.name = "keep_made",
     .type = QueryType::flag,
     .summary = "Leave the tokens that it made: for a token that was lost, not stolen.",
     .standard = "false"},
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "get_me",
     .method = "GET",
     .path = "/v1/me",
     .group = "people",
     .summary = "Who the token says you are, and what you may do.",
     .response = "Me"},
    {.name = "create_token",
     .method = "POST",
     .path = "/v1/tokens",
     .group = "people",
     .summary = "A new token; its text is shown this once.",
     .access = Access::admin,
     .request = "TokenCreate",
     .response = "IssuedToken",
     .success = 201,
     .errors = creates},
    {.name = "list_tokens",
     .method = "GET",
     .path = "/v1/tokens",
     .group = "people",
     .summary = "Tokens, newest first, without their text.",
     .access = Access::admin,
     .response = "TokenList",
     .errors = queries,
     .query = paging},
    {.name = "revoke_token",
     .method = "DELETE",
     .path = "/v1/tokens/{id}",
     .group = "people",
     .summary = "End a token at once, and the tokens that it made. Repeating it is fine.",
     .access = Access::admin,
     .success = 204,
     .errors = finds,
     .query = revoking},
});

}    // namespace slipway::token_endpoints
