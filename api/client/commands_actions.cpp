#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "api/base/printable.h"
#include "api/client/commands.h"
#include "api/client/follow.h"
#include "api/client/request_document.h"
#include "api/client/sse_parser.h"
#include "api/client/sweep_commands.h"

namespace slipway::client {

Json read_json(const std::string& path) {
    Json json = Json::parse(read_text(path), nullptr, false);
    if (!json.is_object())
        throw Stop(ExitCode::usage, fmt::format("{} is not a JSON object", path));
    return json;
}

namespace {

std::string newest_checkpoint(const HttpClient& client, const std::string& job_id) {
    const Json page = get(client, job_path(job_id) + "/checkpoints?limit=1");
    return page.at("items").empty() ? std::string() : cell(page.at("items").front(), "id");
}

// The checkpoints and the end of a job, from its first event or after `last_id`, until `use` is
// false or the connection ends.
void listen(const HttpClient& client, const std::string& job_id, std::string& last_id,
            const std::function<bool(const SseEvent&)>& use) {
    bool goes_on = true;
    SseParser parser([&](const SseEvent& event) {
        last_id = event.id;
        if (goes_on) goes_on = use(event);
    });
    ClientRequest request{.target = job_path(job_id) + "/events?types=checkpoint,end"};
    request.headers.push_back({"Accept", "text/event-stream"});
    if (!last_id.empty()) request.headers.push_back({"Last-Event-ID", last_id});
    require_success(client.stream(request, [&](std::string_view bytes) {
        parser.feed(bytes);
        return goes_on;
    }));
}

ExitCode print_made(const HttpClient& client, const Json& job, bool follow) {
    const std::string job_id = cell(job, "id");
    fmt::print("{}\n", job_id);
    return follow ? follow_job(client, job_id) : ExitCode::ok;
}

/// "epochs" or "steps" where the checkpoint that a job would continue from has trained all of them.
std::string exhausted_length(const ClientResponse& response) {
    const Json problem = Json::parse(response.body, nullptr, false);
    if (response.status != 422 || !problem.is_object()) return "";
    for (const Json& one : problem.value("errors", Json::array()))
        for (const char* field : {"epochs", "steps"})
            if (one.is_object() &&
                one.value("pointer", "") == fmt::format("/changes/train/{}", field) &&
                one.value("code", "") == "out_of_bounds")
                return field;
    return "";
}

/// A job that another one leads to. A run that is complete leaves nothing to continue, so a
/// rejection for that names the options that help.
Json post_derived_job(const HttpClient& client, const std::string& target, const Json& body) {
    const ClientResponse response =
        call_raw(client, {.method = "POST", .target = target, .body = body.dump()});
    if (const std::string field = exhausted_length(response); !field.empty())
        throw Stop(ExitCode::refused,
                   fmt::format("{}\nTrain longer with `--set train.{}=N`, or train again from the "
                               "beginning with `--start scratch`",
                               problem_text(response), field));
    require_success(response);
    return Json::parse(response.body);
}

Json bulk_body(const BulkOptions& options) {
    Json filter = Json::object();
    if (!options.ids.empty()) filter["ids"] = options.ids;
    if (!options.project.empty()) filter["project"] = options.project;
    if (!options.name.empty()) filter["name"] = options.name;
    if (!options.labels.empty()) filter["labels"] = options.labels;
    std::string states = options.state;
    while (!states.empty()) {
        const std::size_t comma = std::min(states.find(','), states.size());
        filter["state"].push_back(states.substr(0, comma));
        states.erase(0, comma + 1);
    }
    return {{"action", options.action}, {"filter", std::move(filter)}};
}

}    // namespace

ExitCode act_on_job(const HttpClient& client, const std::string& job_id, const std::string& verb) {
    const Json job = call(client, "POST", job_path(job_id) + "/" + verb, Json::object());
    fmt::print("{} {}\n", cell(job, "id"), cell(job, "state"));
    return ExitCode::ok;
}

ExitCode delete_job(const HttpClient& client, const std::string& job_id) {
    call(client, "DELETE", job_path(job_id), nullptr);
    fmt::print("{} deleted\n", job_id);
    return ExitCode::ok;
}

ExitCode label_job(const HttpClient& client, const std::string& job_id,
                   const std::vector<std::string>& labels) {
    Json all = get(client, job_path(job_id)).at("labels");
    for (const std::string& label : labels) {
        const std::size_t equals = label.find('=');
        if (equals != std::string::npos && equals > 0)
            all[label.substr(0, equals)] = label.substr(equals + 1);
        else if (equals == std::string::npos && label.size() > 1 && label.ends_with('-'))
            all.erase(label.substr(0, label.size() - 1));
        else
            throw Stop(ExitCode::usage,
                       fmt::format("a label is name=value, or name- to remove it; got {}", label));
    }
    const Json job = call(client, "PATCH", job_path(job_id), {{"labels", std::move(all)}});
    fmt::print("{} {}\n", cell(job, "id"), cell(job, "labels"));
    return ExitCode::ok;
}

ExitCode set_priority(const HttpClient& client, const std::string& job_id,
                      const std::string& job_class) {
    const Json job = call(client, "PATCH", job_path(job_id), {{"queue", {{"class", job_class}}}});
    fmt::print("{} {}\n", cell(job, "id"), job_class);
    return ExitCode::ok;
}

ExitCode set_pool(const HttpClient& client, const std::string& job_id, const std::string& pool) {
    const Json job = call(client, "PATCH", job_path(job_id), {{"queue", {{"pool", pool}}}});
    fmt::print("{} {}\n", cell(job, "id"), pool);
    return ExitCode::ok;
}

ExitCode save_checkpoint(const HttpClient& client, const std::string& job_id) {
    const std::string before = newest_checkpoint(client, job_id);
    call(client, "POST", job_path(job_id) + "/checkpoint", Json::object());
    std::string saved;
    bool ended = false;
    std::string last_id;
    while (saved.empty() && !ended)
        listen(client, job_id, last_id, [&](const SseEvent& event) {
            const std::string newest = newest_checkpoint(client, job_id);
            if (newest != before) saved = newest;
            ended = event.type == "end";
            return saved.empty() && !ended;
        });
    if (saved.empty())
        throw Stop(ExitCode::job_failed, "the job ended before it saved the checkpoint");
    fmt::print("{}\n", saved);
    return ExitCode::ok;
}

ExitCode retry_job(const HttpClient& client, const std::string& job_id, bool follow) {
    return print_made(client, call(client, "POST", job_path(job_id) + "/retry", Json::object()),
                      follow);
}

ExitCode fork_job(const HttpClient& client, const ForkOptions& options) {
    Json changes = options.file.empty() ? Json::object() : read_json(options.file);
    for (const std::string& change : options.changes)
        set_field(changes, change);
    Json body{{"changes", std::move(changes)}, {"start", options.start}};
    if (!options.checkpoint.empty()) body["checkpoint"] = options.checkpoint;
    const Json job = post_derived_job(
        client, job_path(options.job_id) + (options.dry_run ? "/fork?dry_run=true" : "/fork"),
        body);
    if (!options.dry_run) return print_made(client, job, options.follow);
    fmt::print("{}\n", printable_text(job.dump(2)));
    return ExitCode::ok;
}

ExitCode promote_sweep(const HttpClient& client, const PromoteOptions& options) {
    Json changes = options.file.empty() ? Json::object() : read_json(options.file);
    for (const std::string& change : options.changes)
        set_field(changes, change);
    Json body{{"changes", std::move(changes)}, {"pin", !options.unpinned}};
    if (options.trial >= 0) body["trial"] = options.trial;
    if (!options.start.empty()) body["start"] = options.start;
    const Json job =
        post_derived_job(client,
                         fmt::format("/v1/sweeps/{}/promote{}", percent_encode(options.sweep_id),
                                     options.dry_run ? "?dry_run=true" : ""),
                         body);
    if (!options.dry_run) return print_made(client, job, options.follow);
    fmt::print("{}\n", printable_text(job.dump(2)));
    return ExitCode::ok;
}

ExitCode bulk(const HttpClient& client, const BulkOptions& options) {
    const Json body = bulk_body(options);
    if (body.at("filter").empty())
        throw Stop(ExitCode::usage, "select jobs with --state, --project, --name, --label or --id");
    std::vector<std::vector<std::string>> rows;
    std::int64_t refused = 0;
    Json answer;
    do {
        answer = call(client, "POST",
                      options.dry_run ? "/v1/jobs/bulk?dry_run=true" : "/v1/jobs/bulk", body);
        for (const Json& one : answer.at("items"))
            rows.push_back({cell(one, "job_id"), cell(one, "name"), cell(one, "state"),
                            cell(one, "outcome"), cell(one, "message")});
        refused += answer.at("refused").get<std::int64_t>();
        // What was changed may match still (a job that is cancelling does when no state is asked
        // for): then the next round would find the same ones.
    } while (answer.at("more") == true && !options.dry_run && answer.at("changed") > 0);
    print_table({"id", "name", "state", "outcome", "message"}, rows);
    if (answer.at("more") == true) fmt::print(stderr, "There are more jobs that match.\n");
    return refused == 0 ? ExitCode::ok : ExitCode::job_failed;
}

ExitCode act_on_checkpoint(const HttpClient& client, const std::string& checkpoint_id,
                           const std::string& verb) {
    const Json checkpoint =
        call(client, "POST", "/v1/checkpoints/" + percent_encode(checkpoint_id) + "/" + verb,
             Json::object());
    fmt::print("{} {}\n", cell(checkpoint, "id"),
               checkpoint.at("pinned") == true ? "pinned" : "not pinned");
    return ExitCode::ok;
}

}    // namespace slipway::client
