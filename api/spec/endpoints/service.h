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
     .summary = "The process lives.",
     .access = Access::open,
     .response = "Health"},
    {.name = "readyz",
     .method = "GET",
     .path = "/readyz",
     .group = "service",
     .summary = "The service can work: the database answers and the agent runs. Else 503.",
     .access = Access::open,
     .response = "Readiness"},
    {.name = "metrics",
     .method = "GET",
     .path = "/metrics",
     .group = "service",
     .summary = "Figures for Prometheus.",
     .media_type = "text/plain"},
    {.name = "get_version",
     .method = "GET",
     .path = "/v1/version",
     .group = "service",
     .summary = "What runs here.",
     .access = Access::open,
     .response = "Version"},
    {.name = "get_capabilities",
     .method = "GET",
     .path = "/v1/capabilities",
     .group = "service",
     .summary = "Architectures, optimizers, schedules and formats, with their parameters.",
     .access = Access::open,
     .response = "Capabilities"},
    {.name = "get_openapi",
     .method = "GET",
     .path = "/openapi.json",
     .group = "service",
     .summary = "This description.",
     .access = Access::open},
});

}    // namespace slipway::service_endpoints
