#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/client/commands.h"

namespace slipway::client {
namespace {

std::string members_path(const std::string& project) {
    return "/v1/projects/" + percent_encode(project) + "/members";
}

std::string member_path(const MemberOptions& options) {
    return members_path(options.project) + "/" + percent_encode(options.name);
}

}    // namespace

ExitCode list_members(const HttpClient& client, const std::string& project) {
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : get_items(client, members_path(project)))
        rows.push_back({cell(one, "member"), cell(one, "role"), cell(one, "changed_by"),
                        cell(one, "changed_at")});
    print_table({"member", "role", "by", "since"}, rows);
    return ExitCode::ok;
}

ExitCode set_member(const HttpClient& client, const MemberOptions& options) {
    const Json now = call(client, "PUT", member_path(options), {{"role", options.role}});
    fmt::print("{}: {} of {}\n", cell(now, "member"), cell(now, "role"), cell(now, "project"));
    return ExitCode::ok;
}

ExitCode remove_member(const HttpClient& client, const MemberOptions& options) {
    call(client, "DELETE", member_path(options), nullptr);
    fmt::print("{} is no longer a member of {}\n", options.name, options.project);
    return ExitCode::ok;
}

}    // namespace slipway::client
