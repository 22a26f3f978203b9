#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/spec/field.h"

namespace slipway {

/// What a caller must be allowed to do. `open`: no token needed; `known`: any token that is good,
/// also that of a member who has lost every role.
enum class Access { open, known, read, write, admin };

/// How the text of a query parameter is read.
enum class QueryType {
    text,
    integer,
    flag,     ///< "true" or "false"
    word,     ///< one of `allowed`
    words,    ///< several of `allowed` (any words when that is empty), separated by commas
    pairs,    ///< "team:ct,stage:2"
    time      ///< RFC 3339, UTC
};

/// Words or pairs of one query parameter: each may cost queries of its own.
inline constexpr std::size_t query_items_max = 100;

/// One query parameter of an endpoint.
struct QueryParameter {
    std::string_view name;
    QueryType type = QueryType::text;
    std::string_view summary;
    std::int64_t min = 0;    ///< integer only
    std::int64_t max = 0;
    std::span<const std::string_view> allowed = {};
    std::string_view standard = {};    ///< what its absence means; empty: nothing
};

/// One endpoint of the service: a row of the table that both the router and openapi.json are made
/// from. No path is served without a row here, and no row is without a handler.
struct Endpoint {
    std::string_view name;    ///< its operationId, and what its handler is registered under
    std::string_view method;
    std::string_view path;    ///< "/v1/jobs/{id}/cancel", as the router's patterns
    std::string_view group;
    std::string_view summary;
    Access access = Access::read;
    std::string_view request = {};     ///< a schema's name (schemas.h); empty: no JSON body
    std::string_view response = {};    ///< a schema's name; empty: no body, or one of `media_type`
    std::string_view preview = {};     ///< a schema's name: the answer to dry_run, with status 200
    int success = 200;
    std::span<const int> errors = {};    ///< besides 400, 401, 403, 429, 500 and 503
    std::span<const QueryParameter> query = {};
    std::string_view media_type = "application/json";    ///< of the answer
    std::string_view other_media_type = {};              ///< by Accept or a query parameter
    std::string_view body_media_type = {};               ///< of the request when it is not JSON
    bool idempotent_by_key = false;                      ///< honours Idempotency-Key
};

/// Every endpoint, grouped by resource. Each resource has its rows and its query parameters in a
/// header of api/spec/endpoints; endpoints.cpp lists the resources.
std::span<const Endpoint> endpoints() noexcept;

/// The row of this name; an unknown name is a bug.
const Endpoint& find_endpoint(std::string_view name);

/// A query as the router decoded it, in the order sent.
using QueryPairs = std::vector<std::pair<std::string, std::string>>;

/// What is wrong with a query: names that the endpoint does not have (with the nearest one), names
/// given twice, values of the wrong form. Pointers are "?limit".
std::vector<Problem> check_query(const Endpoint& endpoint, const QueryPairs& query);

}    // namespace slipway
