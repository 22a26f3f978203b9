#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints of hosts and cores.
namespace slipway::machine_endpoints {

using namespace endpoint_parts;

inline constexpr auto core_query = std::to_array<QueryParameter>({
    {.name = "host", .summary = "Only cores of this host."},
});

inline constexpr auto core_drain_query = std::to_array<QueryParameter>({
    {.name = "host", .summary = "Only cores of this host."},
    {.name = "reason", .summary = "Reason, shown with the core."},
});

inline constexpr auto sends_host = std::to_array<int>({404, 409});
inline constexpr auto joins = std::to_array<int>({409, 413, 415, 422});
inline constexpr auto drains = std::to_array<int>({404, 413, 415, 422});

inline constexpr auto slice_query = std::to_array<QueryParameter>({
    {.name = "project", .summary = "Only slices of this project."},
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "list_slices",
     .method = "GET",
     .path = "/v1/slices",
     .group = "machine",
     .summary = "List the running slices: jobs, hosts and ranks.",
     .response = "SliceList",
     .query = slice_query},
    {.name = "list_hosts",
     .method = "GET",
     .path = "/v1/hosts",
     .group = "machine",
     .summary = "List the hosts and their resources.",
     .response = "HostList"},
    {.name = "get_host",
     .method = "GET",
     .path = "/v1/hosts/{h}",
     .group = "machine",
     .summary = "Get a host.",
     .response = "Host",
     .errors = not_found},
    {.name = "drain_host",
     .method = "POST",
     .path = "/v1/hosts/{h}/drain",
     .group = "machine",
     .summary = "Stop scheduling new jobs on a host; running jobs continue.",
     .access = Access::admin,
     .request = "HostDrain",
     .response = "Host",
     .errors = drains},
    {.name = "undrain_host",
     .method = "POST",
     .path = "/v1/hosts/{h}/undrain",
     .group = "machine",
     .summary = "Resume scheduling jobs on a host.",
     .access = Access::admin,
     .response = "Host",
     .errors = not_found},
    {.name = "delete_host",
     .method = "DELETE",
     .path = "/v1/hosts/{h}",
     .group = "machine",
     .summary = "Remove a host that is drained or lost and runs no attempt. It runs no jobs from "
                "then on, until it joins again with a token.",
     .access = Access::admin,
     .success = 204,
     .errors = sends_host},
    {.name = "create_join_token",
     .method = "POST",
     .path = "/v1/hosts/join-tokens",
     .group = "machine",
     .summary = "Create a token that lets a removed host, or a new one, join; the secret is "
                "returned only once.",
     .access = Access::admin,
     .request = "JoinTokenCreate",
     .response = "IssuedJoinToken",
     .success = 201,
     .errors = joins,
     .idempotent_by_key = true},
    {.name = "list_cores",
     .method = "GET",
     .path = "/v1/cores",
     .group = "machine",
     .summary = "List the virtual cores and the jobs that hold them.",
     .response = "CoreList",
     .errors = queries,
     .query = core_query},
    {.name = "get_core",
     .method = "GET",
     .path = "/v1/cores/{n}",
     .group = "machine",
     .summary = "Get a virtual core.",
     .response = "Core",
     .errors = finds,
     .query = core_query},
    {.name = "drain_core",
     .method = "POST",
     .path = "/v1/cores/{n}/drain",
     .group = "machine",
     .summary = "Stop scheduling new jobs on a core; a running job continues.",
     .access = Access::admin,
     .response = "Core",
     .errors = finds,
     .query = core_drain_query},
    {.name = "undrain_core",
     .method = "POST",
     .path = "/v1/cores/{n}/undrain",
     .group = "machine",
     .summary = "Resume scheduling jobs on a core.",
     .access = Access::admin,
     .response = "Core",
     .errors = finds,
     .query = core_query},
});

}    // namespace slipway::machine_endpoints
