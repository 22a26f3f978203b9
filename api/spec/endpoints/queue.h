#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints of the queue as a whole.
namespace slipway::queue_endpoints {

using namespace endpoint_parts;

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "list_queue",
     .method = "GET",
     .path = "/v1/queue",
     .group = "queue",
     .summary = "List the queued jobs in scheduling order, including held ones.",
     .response = "QueueList",
     .query = paging},
    {.name = "get_queue_stats",
     .method = "GET",
     .path = "/v1/queue/stats",
     .group = "queue",
     .summary = "Count the queued jobs by class, project and reason, with rates and waits.",
     .response = "QueueStats",
     .errors = finds,
     .query = of_project},
});

}    // namespace slipway::queue_endpoints
