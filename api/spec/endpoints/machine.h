#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints of hosts, cores and the queue.
namespace slipway::machine_endpoints {

using namespace endpoint_parts;

inline constexpr auto core_query = std::to_array<QueryParameter>({
    {.name = "host", .summary = "Only of this host."},
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "list_hosts",
     .method = "GET",
     .path = "/v1/hosts",
     .group = "machine",
     .summary = "The machines and what they offer.",
     .response = "HostList"},
    {.name = "list_cores",
     .method = "GET",
     .path = "/v1/cores",
     .group = "machine",
     .summary = "Every virtual core and the job that holds it.",
     .response = "CoreList",
     .errors = queries,
     .query = core_query},
    {.name = "get_core",
     .method = "GET",
     .path = "/v1/cores/{n}",
     .group = "machine",
     .summary = "One virtual core.",
     .response = "Core",
     .errors = finds,
     .query = core_query},
    {.name = "drain_core",
     .method = "POST",
     .path = "/v1/cores/{n}/drain",
     .group = "machine",
     .summary = "Let no new job onto a core; the one that runs is not touched.",
     .access = Access::admin,
     .response = "Core",
     .errors = finds,
     .query = core_query},
    {.name = "undrain_core",
     .method = "POST",
     .path = "/v1/cores/{n}/undrain",
     .group = "machine",
     .summary = "Let jobs onto a core again.",
     .access = Access::admin,
     .response = "Core",
     .errors = finds,
     .query = core_query},
    {.name = "list_queue",
     .method = "GET",
     .path = "/v1/queue",
     .group = "machine",
     .summary = "The jobs that wait, held ones too, in the order of scheduling.",
     .response = "QueueList",
     .query = paging},
});

}    // namespace slipway::machine_endpoints
