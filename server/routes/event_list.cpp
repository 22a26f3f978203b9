#include "server/routes/event_list.h"

#include <fmt/format.h>

#include "scheduler/store/events.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/sse/job_stream.h"

namespace slipway::routes {

Response event_list(const Context& context, const std::string& id, const std::string& project) {
    const Request& request = context.request;
    if (wants_event_stream(request))
        return job_event_stream(context.services.hub, request, id, project, context.who.token_id);
    const int limit = static_cast<int>(query_number(request, "limit", 500));
    const auto events = store::list_events(context.services.store, id,
                                           {.after_seq = requested_event_cursor(request),
                                            .types = requested_event_types(request),
                                            .limit = limit,
                                            .newest = false});
    std::vector<JsonText> items;
    for (const store::Event& event : events)
        items.push_back(render(event));
    const bool more = store::may_go_on(events, limit);
    return json_text_response(render_list(items, more ? fmt::format("{}", events.back().seq) : ""));
}

}    // namespace slipway::routes
