#include "server/sse/job_stream.h"

#include <algorithm>

#include "api/base/error.h"
#include "api/base/letter_case.h"
#include "server/http/problem.h"
#include "server/http/text.h"

namespace slipway {

bool wants_event_stream(const Request& request) {
    for (const std::string_view item : list_items(request.header("accept").value_or("")))
        if (equal_ignoring_case(trimmed(item.substr(0, item.find(';'))), "text/event-stream"))
            return true;
    return false;
}

std::int64_t requested_event_cursor(const Request& request) {
    const auto header = request.header("last-event-id");
    const auto after = request.query("after");
    const auto given = header ? header : after ? after : request.query("cursor");
    if (!given || given->empty()) return 0;
    const auto number = parse_decimal(*given);
    if (!number || *number > INT64_MAX)
        throw ProblemError({.status = 400,
                            .code = "bad_event_id",
                            .detail = "Last-Event-ID and ?after= must be the id of an event of "
                                      "this stream: a whole number"});
    return static_cast<std::int64_t>(*number);
}

std::vector<std::string> requested_event_types(const Request& request) {
    const auto types = list_items(request.query("types").value_or(""));
    return {types.begin(), types.end()};
}

Response job_event_stream(Hub& hub, const Request& request, const std::string& job_id,
                          const std::string& project, const std::string& owner) {
    std::vector<std::string> types = requested_event_types(request);
    std::int64_t after = requested_event_cursor(request);
    const std::optional<store::EventHead> head = hub.head(job_id);
    if (!head) throw Error(ErrorCode::not_found, "there is no job " + job_id);
    after = std::min(after, head->event_seq);
    Response response;
    response.media_type = "text/event-stream";
    if (head->ended && after == head->event_seq) {
        response.status = 204;
        return response;
    }
    std::optional<std::int64_t> last_seq;
    if (head->ended) last_seq = head->event_seq;
    response.events = hub.subscribe({.job_id = job_id,
                                     .after_seq = after,
                                     .types = std::move(types),
                                     .owner = owner,
                                     .project = project,
                                     .last_seq = last_seq,
                                     .known_seq = head->event_seq});
    return response;
}

}    // namespace slipway
