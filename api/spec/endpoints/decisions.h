#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoint of what the scheduler has decided.
namespace slipway::decision_endpoints {

using namespace endpoint_parts;

inline constexpr auto decision_query = std::to_array<QueryParameter>({
    {.name = "job", .summary = "Only decisions on this job (id)."},
    project,
    limit,
    cursor,
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "list_decisions",
     .method = "GET",
     .path = "/v1/decisions",
     .group = "queue",
     .summary = "List what the scheduler decided on jobs and why, newest first. Decisions are kept "
                "for 7 days.",
     .response = "DecisionList",
     .errors = finds,
     .query = decision_query},
});

}    // namespace slipway::decision_endpoints
