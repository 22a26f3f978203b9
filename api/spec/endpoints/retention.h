#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoint of what is kept of ended jobs.
namespace slipway::retention_endpoints {

using namespace endpoint_parts;

constexpr QueryParameter days_of(std::string_view name, std::string_view summary) {
    return {.name = name, .type = QueryType::integer, .summary = summary, .min = 1, .max = 36500};
}

inline constexpr auto retention_query = std::to_array<QueryParameter>({
    days_of("events_days", "Another number of days for events; default: that of the service."),
    days_of("logs_days", "Another number of days for log lines."),
    days_of("metrics_days", "Another number of days for metric points."),
    days_of("checkpoints_days", "Another number of days for checkpoints."),
    days_of("jobs_days", "Another number of days for jobs."),
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "preview_retention",
     .method = "GET",
     .path = "/v1/retention",
     .group = "service",
     .summary = "Show how long the service keeps data of ended jobs, and what it would remove now, "
                "with its own policy or with another one. This request removes nothing.",
     .access = Access::admin,
     .response = "RetentionList",
     .errors = queries,
     .query = retention_query},
});

}    // namespace slipway::retention_endpoints
