#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/base/printable.h"
#include "api/client/commands.h"
#include "api/client/follow.h"
#include "api/spec/job_kind.h"

namespace slipway::client {
namespace {

std::string read_text(const std::string& path) {
    if (path == "-")
        return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Stop(ExitCode::usage, fmt::format("{} cannot be read", path));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

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

}    // namespace

ExitCode submit(const HttpClient& client, const SubmitOptions& options) {
    const JobKind kind = parse_word<JobKind>(options.kind).value_or(JobKind::train);
    ClientRequest request{.method = "POST",
                          .target = fmt::format("/v1/{}", traits(kind).collection)};
    if (options.dry_run) request.target += "?dry_run=true";
    // As it is in the file: the service's parser says where it is wrong.
    request.body = read_text(options.file);
    const ClientResponse response = call_raw(client, std::move(request));
    require_success(response);
    const Json job = Json::parse(response.body, nullptr, false);
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

ExitCode list_jobs(const HttpClient& client, const ListOptions& options) {
    std::string target = "/v1/jobs?order_by=-created_at";
    if (!options.best.empty())
        target = "/v1/jobs?order_by=best&metric=" + percent_encode(options.best);
    if (!options.state.empty()) target += "&state=" + percent_encode(options.state);
    std::vector<std::vector<std::string>> rows;
    const auto limit = std::size_t(options.limit);
    Json items = get_items(client, target, limit + 1);
    const bool more = items.size() > limit;
    if (more) items.erase(limit);
    for (const Json& job : items)
        rows.push_back({cell(job, "id"), cell(job, "name"), cell(job, "kind"), cell(job, "state"),
                        progress_text(job),
                        options.best.empty() ? best_text(job) : cell(job, "order_value"),
                        cell(job, "created_at").substr(0, 19)});
    print_table({"id", "name", "kind", "state", "step",
                 options.best.empty() ? std::string("best") : options.best, "created"},
                rows);
    if (more) fmt::print(stderr, "There are more jobs; --limit shows more than {}.\n", limit);
    return ExitCode::ok;
}

ExitCode show_job(const HttpClient& client, const std::string& job_id) {
    fmt::print("{}\n", printable_text(get(client, job_path(job_id)).dump(2)));
    return ExitCode::ok;
}

ExitCode explain_job(const HttpClient& client, const std::string& job_id) {
    const Json answer = get(client, job_path(job_id) + "/explain");
    fmt::print("{}: {}\n", cell(answer, "code"), cell(answer, "message"));
    return ExitCode::ok;
}

ExitCode print_logs(const HttpClient& client, const std::string& job_id, const std::string& part) {
    const std::string search = part.empty() ? "" : "&q=" + percent_encode(part);
    for (std::string after = "0"; !after.empty();) {
        const Json page = get(
            client, fmt::format("{}/logs?limit=1000&after={}{}", job_path(job_id), after, search));
        for (const Json& line : page.at("items"))
            fmt::print("{} {:5} {}\n", cell(line, "time"), cell(line, "level"),
                       cell(line, "message"));
        const Json& next = page.at("next_cursor");
        after = next.is_string() ? next.get<std::string>() : "";
    }
    return ExitCode::ok;
}

ExitCode print_metrics(const HttpClient& client, const std::string& job_id,
                       const std::string& names, bool csv) {
    const std::string query = names.empty() ? "" : "names=" + percent_encode(names);
    if (csv) {
        const ClientResponse response =
            call_raw(client, {.target = job_path(job_id) + "/metrics.csv?" + query});
        require_success(response);
        fmt::print("{}", printable_text(response.body));
        if (!response.header("X-Thinned").empty())
            fmt::print(stderr,
                       "The curves have more points than one answer holds and are thinned; --names "
                       "with fewer metrics gives more of each.\n");
        return ExitCode::ok;
    }
    std::vector<std::vector<std::string>> rows;
    const Json answer = get(client, job_path(job_id) + "/metrics?resolution=20&" + query);
    for (const Json& one : answer.at("series"))
        for (const Json& point : one.at("points"))
            rows.push_back({cell(one, "name"), cell(point, "step"), cell(point, "epoch"),
                            value_cell(point), cell(point, "min"), cell(point, "max")});
    print_table({"metric", "step", "epoch", "value", "min", "max"}, rows);
    return ExitCode::ok;
}

ExitCode list_checkpoints(const HttpClient& client, const std::string& job_id) {
    std::vector<std::vector<std::string>> rows;
    const Json items = get_items(client, job_path(job_id) + "/checkpoints");
    for (const Json& one : items)
        for (const Json& file : one.at("files"))
            rows.push_back({cell(one, "id"), cell(one, "step"), cell(one, "kinds"),
                            cell(file, "name"), cell(file, "bytes")});
    print_table({"checkpoint", "step", "kinds", "file", "bytes"}, rows);
    return ExitCode::ok;
}

}    // namespace slipway::client
