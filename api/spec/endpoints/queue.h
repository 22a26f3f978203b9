#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints of the queue as a whole.
namespace slipway::queue_endpoints {

using namespace endpoint_parts;

inline constexpr auto simulates = std::to_array<int>({404, 409, 413, 415, 422, 429});

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
     .summary = "Count the queued jobs by class, project and reason, with rates and waiting times.",
     .response = "QueueStats",
     .errors = finds,
     .query = of_project},
    {.name = "simulate_queue",
     .method = "POST",
     .path = "/v1/queue/simulate",
     .group = "queue",
     .summary = "Simulate when a job would start and which jobs it would delay, with another class "
                "or more hosts; store nothing.",
     .access = Access::write,
     .request = "QueueSimulate",
     .response = "QueueSimulation",
     .errors = simulates,
     .idempotent_by_key = true},
});

}    // namespace slipway::queue_endpoints
