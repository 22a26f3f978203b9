#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/plural.h"
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

Listing list_projects(const HttpClient& client) {
    std::vector<std::vector<std::string>> rows;
    const Json items = get_items(client, "/v1/projects");
    for (const Json& one : items)
        rows.push_back({cell(one, "name"), cell(one, "weight"), cell(one.at("quota"), "cores"),
                        cell(one.at("quota"), "class_max"), cell(one, "usage_core_s"),
                        cell(one, "cores_held"), cell(one, "queued_jobs")});
    return {.head = {"name", "weight", "quota", "class max", "used core-s", "cores held", "queued"},
            .rows = std::move(rows),
            .items = items};
}

ExitCode set_project(const HttpClient& client, const ProjectOptions& options) {
    const bool changes_quota = options.cores_max || options.no_cores_max ||
                               !options.class_max.empty() || options.no_class_max;
    if (!options.weight && !changes_quota)
        throw Stop(ExitCode::usage,
                   "nothing to set: give --weight, --cores-max, --no-cores-max, --class-max or "
                   "--no-class-max");
    if (!is_there(client, options.name))
        call(client, "POST", "/v1/projects", {{"name", options.name}});
    if (options.weight)
        call(client, "PATCH", project_path(options.name), {{"weight", *options.weight}});
    if (changes_quota) {
        Json quota = get(client, project_path(options.name) + "/quota");
        if (options.cores_max) quota["cores"] = *options.cores_max;
        if (options.no_cores_max) quota["cores"] = nullptr;
        if (!options.class_max.empty()) quota["class_max"] = options.class_max;
        if (options.no_class_max) quota["class_max"] = nullptr;
        call(client, "PUT", project_path(options.name) + "/quota", quota);
    }
    const Json now = get(client, project_path(options.name));
    fmt::print("{}: weight {}, quota {}, most urgent class {}\n", cell(now, "name"),
               cell(now, "weight"), cell(now.at("quota"), "cores"),
               cell(now.at("quota"), "class_max"));
    return ExitCode::ok;
}

Listing list_groups(const HttpClient& client, const std::string& project) {
    std::vector<std::vector<std::string>> rows;
    const Json items = get_items(client, project_path(project) + "/groups");
    for (const Json& one : items)
        rows.push_back(
            {cell(one, "name"), cell(one, "limit"), cell(one, "running"), cell(one, "ready")});
    return {
        .head = {"group", "limit", "running", "ready"}, .rows = std::move(rows), .items = items};
}

ExitCode set_group(const HttpClient& client, const std::string& project, const std::string& group,
                   int limit) {
    const Json now = call(client, "PUT", project_path(project) + "/groups/" + percent_encode(group),
                          {{"limit", limit}});
    fmt::print("{}: at most {} at a time\n", cell(now, "name"),
               counted(now.at("limit").get<std::int64_t>(), "job"));
    return ExitCode::ok;
}

}    // namespace slipway::client
