#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ranges>
#include <set>

#include "api/base/letter_case.h"
#include "api/base/percent_encode.h"
#include "api/base/plural.h"
#include "server/http/text.h"
#include "server/routes/event_list.h"
#include "server/routes/handlers.h"
#include "server/routes/heavy_requests.h"
#include "server/routes/job_answer.h"
#include "server/routes/lookup.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/state_sentence.h"
#include "server/sse/job_stream.h"

namespace slipway::routes {
namespace {

// Of the messages in one answer, but for the last one.
constexpr std::size_t log_bytes_max = 1 << 20;
// A search that finds little must not read a whole log of millions of lines for one answer.
constexpr std::size_t log_lines_read_max = 20'000;

constexpr int refusals_read = 200;                         // attempts that are counted
constexpr std::string_view wrong_build = "wrong_build";    // a reason, and how its attempts ended

constexpr std::array<std::string_view, 3> levels{"info", "warn", "error"};

std::size_t level_rank(std::string_view level) {
    return static_cast<std::size_t>(std::ranges::find(levels, level) - levels.begin()) %
           levels.size();
}

// A log or warning event as a line; warnings have no level of their own.
Json log_line(const store::Event& event) {
    const Json body = stored_json(event.body);
    const auto text = [&](const char* name, const char* standard) {
        const auto found = body.is_object() ? body.find(name) : body.end();
        return found != body.end() && found->is_string() ? found->get<std::string>()
                                                         : std::string(standard);
    };
    return {{"seq", event.seq},
            {"time", to_rfc3339(event.created_at)},
            {"level", event.type == "warning" ? "warn" : text("level", "info")},
            {"message", text("message", "")}};
}

bool wants_text(const Request& request) {
    return request.header("accept").value_or("").starts_with("text/plain");
}

Response log_text(const Json& lines) {
    std::string text;
    for (const Json& line : lines)
        text += fmt::format("{} {:5} {}\n", line["time"].get_ref<const std::string&>(),
                            line["level"].get_ref<const std::string&>(),
                            line["message"].get_ref<const std::string&>());
    return text_response(std::move(text));
}

struct LogFilter {
    std::size_t least_level = 0;
    std::string part{};    // of the message, in lower case; empty: any

    bool matches(const Json& line) const {
        return level_rank(line["level"].get_ref<const std::string&>()) >= least_level &&
               (part.empty() ||
                lower_case(line["message"].get_ref<const std::string&>()).find(part) !=
                    std::string::npos);
    }
};

struct LogPage {
    Json lines = Json::array();
    std::int64_t last_seq = 0;    // that was read
    bool more = false;
};

LogPage read_logs(const Context& context, const std::string& job_id) {
    const Request& request = context.request;
    const auto limit = static_cast<std::size_t>(query_number(request, "limit", 500));
    const LogFilter filter{.least_level = level_rank(query_text(request, "level")),
                           .part = lower_case(query_text(request, "q"))};
    store::EventQuery query{.after_seq = query_sequence(request),
                            .types = {"log", "warning"},
                            .limit = 1000,
                            .newest = false};
    LogPage page;
    std::size_t bytes = 0;
    std::size_t read = 0;
    const auto full = [&] {
        return page.lines.size() == limit || bytes >= log_bytes_max || read >= log_lines_read_max;
    };
    for (bool more = true; more && !full();) {
        require_client(request);
        const auto events = store::list_events(context.services.store, job_id, query);
        more = store::may_go_on(events, query.limit);
        for (const store::Event& event : events) {
            query.after_seq = event.seq;
            ++read;
            Json line = log_line(event);
            if (filter.matches(line)) {
                bytes += line["message"].get_ref<const std::string&>().size();
                page.lines.push_back(std::move(line));
            }
            if (full()) break;
        }
    }
    page.last_seq = query.after_seq;
    page.more = full();
    return page;
}

// Text has no room for a cursor: where the next page is stands in a header.
std::string link_to_next_logs(const Request& request, const std::string& job_id,
                              std::int64_t after) {
    std::string target = fmt::format("/v1/jobs/{}/logs?after={}", job_id, after);
    for (const char* name : {"level", "limit", "q"})
        if (const auto given = request.query(name))
            target += fmt::format("&{}={}", name, percent_encode(*given));
    return fmt::format("<{}>; rel=\"next\"", target);
}

// Quoted for a shell: nothing in it is special.
std::string shell_quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    }
    return out + "'";
}

std::string curl_command(const Request& request, std::string_view resource, const Json& spec) {
    const std::string address =
        fmt::format("{}://{}/v1/{}", request.secure ? "https" : "http",
                    request.host.empty() ? "127.0.0.1:8470" : request.host, resource);
    // No line of indented JSON is the word that ends it.
    return fmt::format(
        "curl -sS {} \\\n  -H \"Authorization: Bearer $SLIPWAY_TOKEN\" \\\n"
        "  -H 'Content-Type: application/json' \\\n  --data-binary @- <<'JSON'\n{}\nJSON\n",
        shell_quoted(address), spec.dump(2));
}

}    // namespace

Response list_job_events(const Context& context) {
    const store::Job job = the_job(context);
    return event_list(context, job.id, job.project);
}

Response list_job_logs(const Context& context) {
    const Request& request = context.request;
    const store::Job job = the_job(context);
    const LogPage page = read_logs(context, job.id);
    if (wants_text(request)) {
        Response text = log_text(page.lines);
        if (!page.more) return text;
        return std::move(text).with("Link", link_to_next_logs(request, job.id, page.last_seq));
    }
    return json_response(
        render_list(page.lines, page.more ? fmt::format("{}", page.last_seq) : ""));
}

Response list_job_checkpoints(const Context& context) {
    const store::Job job = the_job(context);
    const auto page = store::list_checkpoints(
        context.services.store, {.job_id = job.id, .projects = {}}, query_page(context.request));
    std::vector<JsonText> items;
    for (const store::Checkpoint& one : page.items)
        items.push_back(render(one));
    return json_text_response(render_list(items, page.next_cursor));
}

Response list_job_attempts(const Context& context) {
    const store::Job job = the_job(context);
    const auto page =
        store::list_attempts(context.services.store, job.id, query_page(context.request));
    Json items = Json::array();
    for (const store::Attempt& one : page.items)
        items.push_back(render(one));
    return json_response(render_list(std::move(items), page.next_cursor));
}

/// Who could not read the order of the job since something else last happened to it; empty: nobody.
std::string refusals_of(const Context& context, const store::Job& job) {
    if (!job.reason || job.reason->code != wrong_build) return {};
    std::set<std::string> hosts;
    std::int64_t refusals = 0;
    const auto newest =
        store::list_attempts(context.services.store, job.id, {.limit = refusals_read});
    bool at_least = !newest.next_cursor.empty();
    for (const store::Attempt& attempt : std::views::reverse(newest.items)) {
        if (attempt.exit_kind != wrong_build) {
            at_least = false;
            break;
        }
        ++refusals;
        for (const store::AttemptMember& member : attempt.members)
            if (!member.end || member.end->exit_kind == wrong_build) hosts.insert(member.host);
    }
    return fmt::format("; {} could not read the job in {}{}: {}",
                       counted(std::ssize(hosts), "host"), at_least ? "at least " : "",
                       counted(refusals, "attempt"), fmt::join(hosts, ", "));
}

Response explain_job(const Context& context) {
    const store::Job job = the_job(context);
    Json answer{{"job_id", job.id},    {"state", to_string(job.state)},
                {"code", nullptr},     {"message", nullptr},
                {"cores", nullptr},    {"blocking_job", nullptr},
                {"position", nullptr}, {"max_wall_s", nullptr}};
    const Json spec = stored_json(job.spec);
    const Json::json_pointer limit("/limits/max_wall_s");
    if (spec.contains(limit)) answer["max_wall_s"] = spec.at(limit);
    put_estimate(answer, std::nullopt);
    // One that has its cores may wait for its launcher.
    const bool may_wait = job.state == JobState::queued || job.state == JobState::starting;
    auto waits = may_wait && context.services.explain_wait ? context.services.explain_wait(job.id)
                                                           : std::nullopt;
    if (waits) {
        hide_foreign_job(context, *waits);
        answer["code"] = waits->code;
        // After a try that failed, its reason says what to mend.
        const std::string refusals = refusals_of(context, job);
        const bool failed_before =
            job.reason && (waits->code == "start_after" || !refusals.empty());
        answer["message"] =
            failed_before ? fmt::format("{}; {}{}", waits->message, job.reason->message, refusals)
                          : waits->message;
        answer["cores"] = waits->cores;
        if (!waits->blocking_job.empty()) answer["blocking_job"] = waits->blocking_job;
        if (const auto position = position_of(context, job)) answer["position"] = *position;
        const auto estimates = start_estimates(context, {job.id});
        const auto found = estimates.find(job.id);
        if (found != estimates.end()) put_estimate(answer, found->second);
    } else if (job.reason) {
        answer["code"] = job.reason->code;
        answer["message"] = job.reason->message;
    } else {
        answer["code"] = to_string(job.state);
        answer["message"] = job.state == JobState::queued
                                ? std::string("it will be placed in the scheduler's next pass")
                                : state_sentence("the job", to_string(job.state));
    }
    return json_response(answer);
}

Response get_job_spec(const Context& context) {
    const store::Job job = the_job(context);
    const Json spec = stored_json(job.spec);
    if (query_text(context.request, "as") == "curl") {
        return text_response(curl_command(context.request, traits(job.kind).collection,
                                          has_payload(job.kind) ? stored_json(job.payload) : spec));
    }
    return json_response(spec);
}

}    // namespace slipway::routes
