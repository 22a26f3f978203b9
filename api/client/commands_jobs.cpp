#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "api/base/plural.h"
#include "api/base/printable.h"
#include "api/client/commands.h"
#include "api/client/follow.h"
#include "api/client/request_document.h"
#include "api/client/request_kind.h"
#include "api/spec/job_kind.h"

namespace slipway::client {
namespace {

std::string progress_text(const Json& job) {
    const auto progress = job.find("progress");
    if (progress == job.end() || !progress->is_object()) return "–";
    return fmt::format("{}/{}", cell(*progress, "step"), cell(*progress, "steps_total"));
}

std::string best_text(const Json& job) {
    const auto best = job.find("best");
    if (best == job.end() || !best->is_object()) return "–";
    return cell(*best, "metric") + " " + cell(*best, "value");
}

std::string cores_text(const Json& job) {
    const Json spec = job.value("spec", Json::object());
    const Json cores = spec.is_object() ? spec.value("accelerator", Json::object()) : Json();
    if (!cores.is_object()) return "–";
    if (cores.contains("slice")) return "slice of " + cell(cores.at("slice"), "cores");
    return cores.contains("core_ids") ? "core " + cores["core_ids"].dump() : cell(cores, "cores");
}

std::string labels_text(const Json& job) {
    std::string text;
    const Json labels = job.value("labels", Json::object());
    for (const auto& [name, value] : labels.items())
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", name,
                            value.is_string() ? value.get<std::string>() : value.dump());
    return text.empty() ? "–" : printable_line(text);
}

}    // namespace

ExitCode submit(const HttpClient& client, const SubmitOptions& options) {
    const JobKind kind = parse_word<JobKind>(options.kind).value_or(JobKind::train);
    const Json job = post_document(
        client,
        fmt::format("/v1/{}{}", traits(kind).collection, options.dry_run ? "?dry_run=true" : ""),
        request_document(options.file, options.changes, options.labels),
        kind == JobKind::train ? RequestKind::job : RequestKind::inference);
    if (options.dry_run) {
        fmt::print("{}\n", printable_text(job.dump(2)));
        return ExitCode::ok;
    }
    const std::string job_id = cell(job, "id");
    if (!options.follow) {
        fmt::print("{}\n", job_id);
        return ExitCode::ok;
    }
    fmt::print("{} ({})\n", cell(job, "name"), job_id);
    return follow_job(client, job_id);
}

namespace {

std::string filters_text(const ListOptions& options) {
    std::string text;
    for (const auto& [name, value] : options.filters)
        if (!value.empty()) text += fmt::format("&{}={}", name, percent_encode(value));
    std::string labels;
    for (const auto& [key, value] : options.labels)
        labels += fmt::format("{}{}:{}", labels.empty() ? "" : ",", key, value);
    return labels.empty() ? text : text + "&label=" + percent_encode(labels);
}

}    // namespace

Listing list_jobs(const HttpClient& client, const ListOptions& options) {
    std::string target = "/v1/jobs?order_by=-created_at";
    if (!options.best.empty())
        target = "/v1/jobs?order_by=best&metric=" + percent_encode(options.best);
    if (!options.state.empty()) target += "&state=" + percent_encode(options.state);
    target += filters_text(options);
    const auto limit = std::size_t(options.limit);
    Json items = get_items(client, target, limit + 1);
    const bool more = items.size() > limit;
    if (more) items.erase(limit);
    Listing listing{.head = {"id", "name", "kind", "state", "step",
                             options.best.empty() ? std::string("best") : options.best, "created",
                             "project", "cores", "labels", "finished"},
                    .items = std::move(items),
                    .wide_count = 4};
    for (const Json& job : listing.items)
        listing.rows.push_back(
            {cell(job, "id"), cell(job, "name"), cell(job, "kind"), cell(job, "state"),
             progress_text(job), options.best.empty() ? best_text(job) : cell(job, "order_value"),
             cell(job, "created_at").substr(0, 19), cell(job, "project"), cores_text(job),
             labels_text(job), cell(job, "finished_at").substr(0, 19)});
    if (more)
        listing.note =
            fmt::format("There are more than {}; --limit shows more.", counted(limit, "job"));
    return listing;
}

ExitCode watch_jobs(const HttpClient& client, const ListOptions& options) {
    const bool is_terminal = isatty(STDOUT_FILENO) == 1;
    std::map<std::string, std::string> shown;    // a job's id and what was said of it
    for (;;) {
        const Listing listing = list_jobs(client, options);
        if (is_terminal) {
            fmt::print("\x1b[H\x1b[J");
            print_listing(listing, "table");
        } else {
            for (const Json& job : listing.items) {
                const std::string state = cell(job, "state");
                if (std::exchange(shown[cell(job, "id")], state) != state)
                    fmt::print("{} {} {}\n", cell(job, "id"), cell(job, "name"), state);
            }
        }
        // A pipe whose reader is gone ends the command.
        if (std::fflush(stdout) != 0) return ExitCode::ok;
        pause_for(std::chrono::seconds{1});
    }
}

ExitCode show_job(const HttpClient& client, const std::string& job_id) {
    fmt::print("{}\n", printable_text(get(client, job_path(job_id)).dump(2)));
    return ExitCode::ok;
}

ExitCode explain_job(const HttpClient& client, const std::string& job_id) {
    const Json answer = get(client, job_path(job_id) + "/explain");
    fmt::print("{}: {}\n", cell(answer, "code"), cell(answer, "message"));
    if (answer.contains("max_wall_s") && !answer.at("max_wall_s").is_null())
        fmt::print("time limit: {} s\n", cell(answer, "max_wall_s"));
    return ExitCode::ok;
}

namespace {

/// A name that is none of a job's metrics; a job that has not measured anything yet has none.
void require_metrics(const HttpClient& client, const std::string& job_id,
                     const std::string& names) {
    if (names.empty()) return;
    std::vector<std::string> known;
    const Json all = get(client, job_path(job_id) + "/metrics?resolution=2");
    for (const Json& one : all.at("series"))
        known.push_back(text_of(one, "name"));
    std::istringstream list(names);
    for (std::string name; !known.empty() && std::getline(list, name, ',');)
        if (std::ranges::find(known, name) == known.end())
            throw Stop(ExitCode::refused,
                       fmt::format("the job has no metric `{}`; it has {}", printable_line(name),
                                   printable_line(fmt::format("{}", fmt::join(known, ", ")))));
}

}    // namespace

ExitCode print_metrics_csv(const HttpClient& client, const std::string& job_id,
                           const std::string& names) {
    require_metrics(client, job_id, names);
    const std::string query = names.empty() ? "" : "names=" + percent_encode(names);
    const ClientResponse response =
        call_raw(client, {.target = job_path(job_id) + "/metrics.csv?" + query});
    require_success(response);
    fmt::print("{}", printable_text(response.body));
    if (!response.header("X-Thinned").empty())
        fmt::print(stderr,
                   "The curves have more points than one answer may have and are thinned; give "
                   "fewer metrics with --names to get more points.\n");
    return ExitCode::ok;
}

Listing list_metrics(const HttpClient& client, const std::string& job_id,
                     const std::string& names) {
    require_metrics(client, job_id, names);
    const std::string query = names.empty() ? "" : "&names=" + percent_encode(names);
    Listing listing{
        .head = {"metric", "step", "epoch", "value", "min", "max"},
        .items = get(client, job_path(job_id) + "/metrics?resolution=20" + query).at("series")};
    for (const Json& one : listing.items)
        for (const Json& point : one.at("points"))
            listing.rows.push_back({cell(one, "name"), cell(point, "step"), cell(point, "epoch"),
                                    value_cell(point), cell(point, "min"), cell(point, "max")});
    return listing;
}

Listing list_checkpoints(const HttpClient& client, const std::string& job_id) {
    std::vector<std::vector<std::string>> rows;
    const Json items = get_items(client, job_path(job_id) + "/checkpoints");
    for (const Json& one : items)
        for (const Json& file : one.at("files"))
            rows.push_back({cell(one, "id"), cell(one, "step"), cell(one, "kinds"),
                            cell(file, "name"), cell(file, "bytes")});
    return {.head = {"checkpoint", "step", "kinds", "file", "bytes"},
            .rows = std::move(rows),
            .items = items};
}

}    // namespace slipway::client
