#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/client/commands.h"

namespace slipway::client {
namespace {

std::string project_path(const std::string& name) {
    return "/v1/projects/" + percent_encode(name);
}

bool is_there(const HttpClient& client, const std::string& name) {
    const ClientResponse response = call_raw(client, {.target = project_path(name)});
    if (response.status == 404) return false;
    require_success(response);
    return true;
}

}    // namespace

ExitCode list_projects(const HttpClient& client) {
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : get_items(client, "/v1/projects"))
        rows.push_back({cell(one, "name"), cell(one, "weight"), cell(one.at("quota"), "cores"),
                        cell(one, "usage_core_s"), cell(one, "cores_held"),
                        cell(one, "queued_jobs")});
    print_table({"name", "weight", "quota", "used core-s", "cores held", "queued"}, rows);
    return ExitCode::ok;
}

ExitCode set_project(const HttpClient& client, const ProjectOptions& options) {
    if (!options.weight && !options.cores_max && !options.no_cores_max)
        throw Stop(ExitCode::usage, "nothing to set: give --weight, --cores-max or --no-cores-max");
    if (!is_there(client, options.name))
        call(client, "POST", "/v1/projects", {{"name", options.name}});
    if (options.weight)
        call(client, "PATCH", project_path(options.name), {{"weight", *options.weight}});
    Json quota = Json::object();
    if (options.cores_max) quota["cores"] = *options.cores_max;
    if (options.cores_max || options.no_cores_max)
        call(client, "PUT", project_path(options.name) + "/quota", quota);
    const Json now = get(client, project_path(options.name));
    fmt::print("{}: weight {}, quota {}\n", cell(now, "name"), cell(now, "weight"),
               cell(now.at("quota"), "cores"));
    return ExitCode::ok;
}

ExitCode list_groups(const HttpClient& client, const std::string& project) {
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : get_items(client, project_path(project) + "/groups"))
        rows.push_back(
            {cell(one, "name"), cell(one, "limit"), cell(one, "running"), cell(one, "ready")});
    print_table({"group", "limit", "running", "ready"}, rows);
    return ExitCode::ok;
}

ExitCode set_group(const HttpClient& client, const std::string& project, const std::string& group,
                   int limit) {
    const Json now = call(client, "PUT", project_path(project) + "/groups/" + percent_encode(group),
                          {{"limit", limit}});
    fmt::print("{}: at most {} jobs at a time\n", cell(now, "name"), cell(now, "limit"));
    return ExitCode::ok;
}

}    // namespace slipway::client
