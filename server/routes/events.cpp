#include "server/routes/handlers.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/sse/project_stream.h"

namespace slipway::routes {

Response stream_events(const Context& context) {
    const std::string project = query_text(context.request, "project");
    if (!project.empty() && !context.who.sees(project)) throw_not_found("project", project);
    return project_event_stream(context.services.project_hub, context.request,
                                {.owner = context.who.token_id,
                                 .owner_projects = context.who.projects(),
                                 .project = project});
}

}    // namespace slipway::routes
