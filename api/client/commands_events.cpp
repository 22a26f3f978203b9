// The stream of a project, a line per event. It is taken up again where it broke off, as follow.cpp
// does for one job; the service says when something is missing.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "api/base/printable.h"
#include "api/client/commands.h"
#include "api/client/sse_parser.h"

namespace slipway::client {
namespace {

constexpr std::chrono::seconds silence_max{40};    // the service beats every 15 s
constexpr std::chrono::milliseconds pause_between{2000};
constexpr int breaks_max = 150;    // in a row: five minutes

std::string state_change(const Json& body) {
    const std::string from = text_of(body, "from");
    return from.empty() ? text_of(body, "state")
                        : fmt::format("{} -> {}", from, text_of(body, "state"));
}

std::string object_of(const Json& event) {
    for (const char* member : {"job_id", "dataset_id", "split_id"})
        if (std::string id = text_of(event, member); !id.empty()) return id;
    return "-";
}

void print_event(const SseEvent& event) {
    const Json data = Json::parse(event.data, nullptr, false);
    if (!data.is_object()) return;
    if (event.type == "gap") {
        fmt::print("gap: {}\n", printable_line(text_of(data, "message")));
    } else {
        const Json body = data.value("body", Json::object());
        const std::string text = event.type == "state" ? state_change(body) : body.dump();
        fmt::print("{} {} {} {}\n", printable_line(text_of(data, "project")), object_of(data),
                   printable_line(event.type), printable_line(text));
    }
    std::fflush(stdout);
}

// One connection: the number of events that came.
int print_once(const HttpClient& client, const std::string& target, std::string& last_id,
               int count_max) {
    int count = 0;
    const auto enough = [&] { return count_max > 0 && count >= count_max; };
    SseParser parser([&](const SseEvent& event) {
        last_id = event.id;
        if (enough()) return;
        print_event(event);
        ++count;
    });
    ClientRequest request{.target = target};
    request.headers.push_back({"Accept", "text/event-stream"});
    if (!last_id.empty()) request.headers.push_back({"Last-Event-ID", last_id});
    const ClientResponse response = client.stream(request, [&](std::string_view bytes) {
        parser.feed(bytes);
        return !enough();
    });
    if (response.status != 503 && response.status != 429 && response.status != 502)
        require_success(response);
    return count;
}

std::string events_target(const EventOptions& options) {
    std::string target = "/v1/events";
    if (!options.project.empty()) target += "?project=" + percent_encode(options.project);
    if (!options.types.empty())
        target += (options.project.empty() ? "?types=" : "&types=") + percent_encode(options.types);
    return target;
}

}    // namespace

ExitCode print_events(const HttpClient& client, const EventOptions& options) {
    ClientOptions stream_options = client.options();
    stream_options.silence_max = silence_max;
    const HttpClient stream(stream_options);
    const std::string target = events_target(options);
    std::string last_id;
    int left = options.count;
    for (int breaks = 0; breaks <= breaks_max; ++breaks) {
        int count = 0;
        try {
            count = print_once(stream, target, last_id, left);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::unavailable || breaks == breaks_max) throw;
        }
        if (options.count > 0 && (left -= count) <= 0) return ExitCode::ok;
        if (count > 0) breaks = 0;
        pause_for(pause_between);
    }
    throw Stop(ExitCode::unreachable,
               "the service has ended the stream repeatedly for five minutes");
}

}    // namespace slipway::client
