#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string>

#include "api/base/plural.h"
#include "api/base/printable.h"
#include "api/client/commands.h"
#include "api/client/data_commands.h"
#include "api/client/upload.h"

namespace slipway::client {
namespace {

std::string dataset_path(const std::string& name) {
    return "/v1/datasets/" + percent_encode(name);
}

Json request_of(const DatasetOptions& options) {
    if (options.name.ends_with(".json")) return read_json(options.name);
    if (options.format.empty())
        throw Stop(ExitCode::usage, "give the format of the dataset with --format");
    Json request{{"name", options.name}, {"format", options.format}};
    if (!options.path.empty()) request["source"] = {{"path", options.path}};
    if (!options.options.empty()) request["options"] = dataset_options(options.options);
    return request;
}

Json wait_until_checked(const HttpClient& client, const std::string& id) {
    for (;;) {
        ClientRequest request{.target = dataset_path(id)};
        request.headers.push_back({"Prefer", "wait=30"});
        const ClientResponse response = call_raw(client, std::move(request));
        require_success(response);
        Json dataset = Json::parse(response.body, nullptr, false);
        if (cell(dataset, "state") != "checking") return dataset;
    }
}

/// As compilers do: file, row, then the column and what is wrong with it.
std::string problem_line(const Json& problem) {
    std::string line = cell(problem, "file");
    const auto given = [&](const char* name) {
        const auto found = problem.find(name);
        return found != problem.end() && !found->is_null() && *found != "";
    };
    if (given("row")) line += ":" + cell(problem, "row");
    if (given("field")) line += ": " + cell(problem, "field");
    return line + ": " + cell(problem, "message");
}

void print_problems(const Json& dataset) {
    constexpr std::ptrdiff_t shown_max = 10;
    const Json problems = dataset.value("problems", Json::array());
    for (const Json& one : problems | std::views::take(shown_max))
        fmt::print("  {}\n", problem_line(one));
    if (std::ssize(problems) > shown_max)
        fmt::print("  and {}; slipway dataset show {} lists them\n",
                   counted(std::ssize(problems) - shown_max, "further problem"),
                   cell(dataset, "id"));
}

ExitCode print_verdict(const Json& dataset) {
    fmt::print("{} ({}) {}\n", cell(dataset, "name"), cell(dataset, "id"), cell(dataset, "state"));
    print_problems(dataset);
    return cell(dataset, "state") == "failed" ? ExitCode::job_failed : ExitCode::ok;
}

}    // namespace

Listing list_datasets(const HttpClient& client) {
    std::vector<std::vector<std::string>> rows;
    const Json items = get_items(client, "/v1/datasets");
    for (const Json& one : items)
        rows.push_back({cell(one, "id"), cell(one, "name"), cell(one, "format"), cell(one, "state"),
                        cell(one, "created_at").substr(0, 19)});
    return {.head = {"id", "name", "format", "state", "created"},
            .rows = std::move(rows),
            .items = items};
}

ExitCode show_dataset(const HttpClient& client, const std::string& name) {
    fmt::print("{}\n", printable_text(get(client, dataset_path(name)).dump(2)));
    return ExitCode::ok;
}

ExitCode delete_dataset(const HttpClient& client, const std::string& name) {
    call(client, "DELETE", dataset_path(name), nullptr);
    fmt::print("{} deleted\n", name);
    return ExitCode::ok;
}

ExitCode create_dataset(const HttpClient& client, const DatasetOptions& options) {
    Json request = request_of(options);
    if (options.upload.empty()) return register_dataset(client, request, options.wait);
    const FinishedUpload upload = send_upload(client, file_source(options.upload));
    request["source"] = {{"upload", upload.id}};
    const ExitCode ended = register_dataset(client, request, options.wait);
    forget_upload(upload);
    return ended;
}

Json dataset_options(const std::map<std::string, std::string>& given) {
    Json options = Json::object();
    for (const auto& [name, value] : given) {
        const Json parsed = Json::parse(value, nullptr, false);
        const bool is_value = parsed.is_number() || parsed.is_boolean() || parsed.is_array();
        options[name] = is_value ? parsed : Json(value);
    }
    return options;
}

ExitCode register_dataset(const HttpClient& client, const Json& request, bool wait) {
    Json dataset = call(client, "POST", "/v1/datasets", request);
    if (wait) dataset = wait_until_checked(client, cell(dataset, "id"));
    return print_verdict(dataset);
}

}    // namespace slipway::client
