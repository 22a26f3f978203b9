#include "server/sse/project_stream.h"

#include "server/http/text.h"

namespace slipway {
namespace {

ProjectEventTypes requested_types(const Request& request) {
    ProjectEventTypes types = 0;
    for (const std::string_view word : list_items(request.query("types").value_or("")))
        if (const auto type = parse_word<ProjectEventType>(word)) types |= bit_of(*type);
    if (types != 0) return types;
    for (std::size_t type = 0; type < Spelling<ProjectEventType>::words.size(); ++type)
        types |= ProjectEventTypes{1} << type;
    return types & ~(bit_of(ProjectEventType::metric) | bit_of(ProjectEventType::log));
}

}    // namespace

Response project_event_stream(ProjectHub& hub, const Request& request, ProjectStreamRequest asked) {
    Response response;
    response.media_type = "text/event-stream";
    response.events =
        hub.subscribe({.owner = std::move(asked.owner),
                       .owner_projects = std::move(asked.owner_projects),
                       .project = std::move(asked.project),
                       .types = requested_types(request),
                       .last_event_id = std::string(request.header("last-event-id").value_or(""))});
    return response;
}

}    // namespace slipway
