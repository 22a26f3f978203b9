#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints of the service itself: health, metrics, version, contract.
namespace slipway::service_endpoints {

using namespace endpoint_parts;

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "healthz",
     .method = "GET",
     .path = "/healthz",
     .group = "service",
     .summary = "Liveness: the process is running.",
     .access = Access::open,
     .response = "Health"},
    {.name = "readyz",
     .method = "GET",
     .path = "/readyz",
     .group = "service",
     .summary = "Readiness: the database responds and the agent is running. Otherwise 503.",
     .access = Access::open,
     .response = "Readiness"},
    {.name = "metrics",
     .method = "GET",
     .path = "/metrics",
     .group = "service",
     .summary = "Prometheus metrics.",
     .media_type = "text/plain"},
    {.name = "get_version",
     .method = "GET",
     .path = "/v1/version",
     .group = "service",
     .summary = "Get the version of the service and its API.",
     .access = Access::open,
     .response = "Version"},
    {.name = "get_capabilities",
     .method = "GET",
     .path = "/v1/capabilities",
     .group = "service",
     .summary = "List the architectures, optimizers, schedules and formats with their parameters.",
     .access = Access::open,
     .response = "Capabilities"},
    {.name = "get_openapi",
     .method = "GET",
     .path = "/openapi.json",
     .group = "service",
     .summary = "Get this OpenAPI document.",
     .access = Access::open},
});

}    // namespace slipway::service_endpoints
