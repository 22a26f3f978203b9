#pragma once

#include <string>
#include <vector>

#include "server/http/message.h"
#include "server/sse/project_hub.h"

namespace slipway {

/// Who asks for a stream, and for what of it.
struct ProjectStreamRequest {
    std::string owner{};                          ///< token id
    std::vector<std::string> owner_projects{};    ///< empty: all
    std::string project{};                        ///< empty: all of the owner's
};

/// Answers GET /events. Starts behind `Last-Event-ID`, else with what comes from now on;
/// `?types=state,end` leaves others out; without it all come but `metric` and `log`. The caller has
/// checked the right to see the project.
/// errors  throws ProblemError 400 `bad_event_id`, 429; Error{unavailable}
Response project_event_stream(ProjectHub& hub, const Request& request, ProjectStreamRequest asked);

}    // namespace slipway
