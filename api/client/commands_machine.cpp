#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/plural.h"
#include "api/base/printable.h"
#include "api/client/commands.h"

namespace slipway::client {

namespace {

std::string host_path(const std::string& name) {
    return "/v1/hosts/" + percent_encode(name);
}

}    // namespace

Listing list_hosts(const HttpClient& client) {
    std::vector<std::vector<std::string>> rows;
    const Json items = get(client, "/v1/hosts").at("items");
    for (const Json& one : items) {
        const Json drain = one.at("drain").is_null() ? Json::object() : one.at("drain");
        rows.push_back({cell(one, "name"), cell(one, "pool"), cell(one, "cores"),
                        cell(one, "silent_s"), one.at("drain").is_null() ? "takes jobs" : "drained",
                        cell(drain, "reason"), cell(drain, "by"), cell(drain, "at")});
    }
    return {.head = {"host", "pool", "cores", "silent s", "state", "reason", "by", "since"},
            .rows = std::move(rows),
            .items = items};
}

Listing list_slices(const HttpClient& client) {
    std::vector<std::vector<std::string>> rows;
    const Json items = get(client, "/v1/slices").at("items");
    for (const Json& slice : items)
        for (const Json& member : slice.at("members")) {
            const bool ended = !member.at("exit_kind").is_null();
            rows.push_back({cell(slice, "job_id"), cell(slice, "name"), cell(slice, "state"),
                            cell(slice, "cores"), cell(member, "rank"), cell(member, "host"),
                            ended                        ? cell(member, "exit_kind")
                            : member.at("pid").is_null() ? "starts"
                                                         : "runs"});
        }
    return {.head = {"job", "name", "job state", "cores", "rank", "host", "process"},
            .rows = std::move(rows),
            .items = items};
}

ExitCode drain_host(const HttpClient& client, const std::string& name, const std::string& reason) {
    Json body = Json::object();
    if (!reason.empty()) body["reason"] = reason;
    call(client, "POST", host_path(name) + "/drain", body);
    fmt::print("host {} takes no new jobs\n", name);
    return ExitCode::ok;
}

ExitCode remove_host(const HttpClient& client, const std::string& name) {
    call(client, "DELETE", host_path(name), nullptr);
    fmt::print("host {} removed\n", name);
    return ExitCode::ok;
}

ExitCode create_join_token(const HttpClient& client, const JoinTokenOptions& options) {
    Json body{{"uses", options.uses}, {"expires_in_s", options.expires_in_s}};
    if (!options.host.empty()) body["host"] = options.host;
    const Json made = call(client, "POST", "/v1/hosts/join-tokens", body);
    fmt::print("{}\n", cell(made, "token"));
    return ExitCode::ok;
}

ExitCode undrain_host(const HttpClient& client, const std::string& name) {
    call(client, "POST", host_path(name) + "/undrain", Json::object());
    fmt::print("host {} takes jobs\n", name);
    return ExitCode::ok;
}

ExitCode show_retention(const HttpClient& client, const RetentionOptions& options) {
    std::string query;
    const auto add = [&](const char* name, int days) {
        if (days > 0) query += fmt::format("{}{}={}", query.empty() ? "?" : "&", name, days);
    };
    add("events_days", options.events_days);
    add("logs_days", options.logs_days);
    add("metrics_days", options.metrics_days);
    add("checkpoints_days", options.checkpoints_days);
    add("jobs_days", options.jobs_days);
    std::vector<std::vector<std::string>> rows;
    const Json answer = get(client, "/v1/retention" + query);
    for (const Json& one : answer.at("items"))
        rows.push_back({cell(one, "kind"), one.at("days").is_null() ? "forever" : cell(one, "days"),
                        cell(one, "due_jobs"), cell(one, "due_checkpoints"),
                        cell(one, "due_bytes")});
    print_table({"kind", "days kept", "jobs due", "checkpoints due", "bytes due"}, rows);
    return ExitCode::ok;
}

Listing list_cores(const HttpClient& client) {
    std::vector<std::vector<std::string>> rows;
    const Json items = get(client, "/v1/cores").at("items");
    for (const Json& one : items)
        rows.push_back({cell(one, "core"), cell(one, "host"), cell(one, "state"),
                        cell(one, "job_id"), cell(one, "drain_reason")});
    return {.head = {"core", "host", "state", "job", "reason"},
            .rows = std::move(rows),
            .items = items};
}

ExitCode drain_core(const HttpClient& client, int core, const std::string& reason) {
    const std::string query = reason.empty() ? "" : "?reason=" + percent_encode(reason);
    call(client, "POST", fmt::format("/v1/cores/{}/drain{}", core, query), Json::object());
    fmt::print("core {} takes no new jobs\n", core);
    return ExitCode::ok;
}

ExitCode undrain_core(const HttpClient& client, int core) {
    call(client, "POST", fmt::format("/v1/cores/{}/undrain", core), Json::object());
    fmt::print("core {} takes jobs\n", core);
    return ExitCode::ok;
}

ExitCode create_token(const HttpClient& client, const TokenOptions& options) {
    Json body{{"name", options.name}, {"role", options.role}, {"projects", options.projects}};
    if (!options.member.empty()) body["member"] = options.member;
    const Json made = call(client, "POST", "/v1/tokens", body);
    fmt::print("{}\n", cell(made, "token"));
    return ExitCode::ok;
}

Listing list_tokens(const HttpClient& client) {
    std::vector<std::vector<std::string>> rows;
    const Json items = get_items(client, "/v1/tokens");
    for (const Json& one : items)
        rows.push_back({cell(one, "id"), cell(one, "name"), cell(one, "role"),
                        cell(one, "last_used_at"), cell(one, "revoked_at")});
    return {.head = {"id", "name", "role", "last used", "revoked"},
            .rows = std::move(rows),
            .items = items};
}

ExitCode revoke_token(const HttpClient& client, const std::string& token_id, bool keep_made) {
    const char* query = keep_made ? "?keep_made=true" : "";
    call(client, "DELETE", "/v1/tokens/" + percent_encode(token_id) + query, nullptr);
    fmt::print("{} revoked\n", token_id);
    return ExitCode::ok;
}

ExitCode print_version(const HttpClient& client) {
    fmt::print("{}\n", printable_text(get(client, "/v1/version").dump(2)));
    return ExitCode::ok;
}

ExitCode print_status(const HttpClient& client) {
    const Json version = get(client, "/v1/version");
    const Json me = get(client, "/v1/me");
    const Json stats = get(client, "/v1/queue/stats");
    fmt::print("service  {}, version {} ({})\n", to_string(client.options().url),
               cell(version, "version"), cell(version, "commit"));
    fmt::print("token    {} ({})\n", cell(me, "name"), cell(me, "role"));
    fmt::print("queue    {} queued, {} ready\n",
               counted(stats.at("jobs").get<std::int64_t>(), "job"), cell(stats, "ready"));
    fmt::print("cores    {} of {} held, {} free\n", cell(stats.at("cores"), "held"),
               cell(stats.at("cores"), "total"), cell(stats.at("cores"), "free"));
    return ExitCode::ok;
}

}    // namespace slipway::client
