#pragma once

#include <string>

#include "server/http/message.h"
#include "server/sse/hub.h"

namespace slipway {

/// Answers GET /jobs/{id}/events with `Accept: text/event-stream`. Starts behind `Last-Event-ID`,
/// else behind `?after=`, else at the first event; `?types=state,metric` leaves others out. When
/// the job has ended and the client has seen its last event: 204, which tells a browser not to come
/// back. A cursor beyond the newest event is taken as the newest. The caller has checked the right
/// to see the job, which is of `project`; `owner` is who the cap on streams counts for.
/// errors  throws not_found; ProblemError 400 `bad_event_id`, 429
Response job_event_stream(Hub& hub, const Request& request, const std::string& job_id,
                          const std::string& project, const std::string& owner);

/// True when the Accept header prefers an event stream: it names text/event-stream.
bool wants_event_stream(const Request& request);

/// The sequence number to go on behind: Last-Event-ID, else ?after=, else 0.
/// errors  throws ProblemError 400 `bad_event_id`
std::int64_t requested_event_cursor(const Request& request);

/// The parts of ?types=, which the query of the endpoint was checked for; empty: all.
std::vector<std::string> requested_event_types(const Request& request);

}    // namespace slipway
