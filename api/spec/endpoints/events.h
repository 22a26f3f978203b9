#pragma once

#include <array>
#include <string_view>

#include "api/spec/endpoints/parts.h"
#include "api/spec/event.h"

/// The stream of everything that happens in a project.
namespace slipway::event_endpoints {

using namespace endpoint_parts;

inline constexpr auto event_query = std::to_array<QueryParameter>({
    {.name = "project",
     .summary = "Only events of this project. Default: all projects that the caller sees."},
    {.name = "types",
     .type = QueryType::words,
     .summary = "Only events of these types; `gap` is always sent. Default: all but metric and "
                "log.",
     .allowed = Words(Spelling<ProjectEventType>::words)},
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "stream_events",
     .method = "GET",
     .path = "/v1/events",
     .group = "jobs",
     .summary = "Stream the events of all jobs, and changes of datasets and splits, as they "
                "happen. With Last-Event-ID the stream continues after that event, or begins with "
                "`gap` if events are missing.",
     .errors = finds,
     .query = event_query,
     .media_type = "text/event-stream"},
});

}    // namespace slipway::event_endpoints
