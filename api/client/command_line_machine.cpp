#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "api/client/command_line.h"

namespace slipway::client {

void add_machine_commands(CLI::App& app, Line& line) {
    add_list(app, "hosts", "List the hosts, and who drained them and why", line, list_hosts);
    add_list(app, "slices", "List the running slices, and the host of each rank", line,
             list_slices);
    CLI::App* host = app.add_subcommand("host", "Drain, undrain or remove a host, or let one join");
    host->require_subcommand(1);
    CLI::App* whole =
        add_with_id(*host, "drain", "Stop scheduling new jobs on a host", line,
                    [&line](const HttpClient& c) { return drain_host(c, line.id, line.reason); });
    whole->get_option("id")->description("name of the host");
    whole->add_option("--reason", line.reason, "reason, shown to jobs that wait for the host");
    add_with_id(*host, "remove", "Remove a host that is drained or lost", line,
                [&line](const HttpClient& c) { return remove_host(c, line.id); })
        ->get_option("id")
        ->description("name of the host");
    CLI::App* join =
        add(*host, "join-token", "Create a token that lets a host join; it is printed only once",
            line, [&line](const HttpClient& c) { return create_join_token(c, line.join_token); });
    join->add_option("--host", line.join_token.host, "only for the host of this name");
    join->add_option("--uses", line.join_token.uses, "number of hosts that may join with it")
        ->check(CLI::Range(1, 100));
    join->add_option("--expires-s", line.join_token.expires_in_s, "seconds until it expires")
        ->check(CLI::Range(60, 7 * 86400));
    add_with_id(*host, "undrain", "Resume scheduling jobs on a host", line,
                [&line](const HttpClient& c) { return undrain_host(c, line.id); })
        ->get_option("id")
        ->description("name of the host");
    CLI::App* kept = add(
        app, "retention", "Show how long data of ended jobs is kept, and what would be removed now",
        line, [&line](const HttpClient& c) { return show_retention(c, line.retention); });
    const auto days = [&](const char* flag, int& value, const char* kind) {
        kept->add_option(
                flag, value,
                fmt::format("use this number of days for {} instead; nothing is removed", kind))
            ->check(CLI::Range(1, 36500));
    };
    days("--events-days", line.retention.events_days, "events");
    days("--logs-days", line.retention.logs_days, "log lines");
    days("--metrics-days", line.retention.metrics_days, "metric points");
    days("--checkpoints-days", line.retention.checkpoints_days, "checkpoints");
    days("--jobs-days", line.retention.jobs_days, "jobs");
    add_list(app, "cores", "List the virtual cores and the jobs that hold them", line, list_cores);
    CLI::App* one =
        add(app, "drain", "Stop scheduling new jobs on a core", line,
            [&line](const HttpClient& c) { return drain_core(c, line.core, line.reason); });
    one->add_option("core", line.core, "core number, 1 to 8")->required();
    one->add_option("--reason", line.reason, "reason, shown with the core");
    one = add(app, "undrain", "Resume scheduling jobs on a core", line,
              [&line](const HttpClient& c) { return undrain_core(c, line.core); });
    one->add_option("core", line.core, "core number, 1 to 8")->required();
}

void add_token_commands(CLI::App& app, Line& line) {
    CLI::App* token = app.add_subcommand("token", "Create, list or revoke tokens");
    token->require_subcommand(1);
    CLI::App* one = add(*token, "create", "Create a token; its secret is printed only once", line,
                        [&line](const HttpClient& c) { return create_token(c, line.token); });
    one->add_option("name", line.token.name, "name of the token")->required();
    one->add_option("--project", line.token.projects,
                    "project that it may access; can be repeated; default: all")
        ->allow_extra_args(false);
    one->add_option("--member", line.token.member,
                    "member that the token belongs to; it may do no more than the member");
    one->add_option("--role", line.token.role, "role: viewer, editor or admin");
    add_list(*token, "list", "List tokens", line, list_tokens);
    one = add_with_id(
        *token, "revoke", "Revoke a token and the tokens that it created", line,
        [&line](const HttpClient& c) { return revoke_token(c, line.id, line.keep_made); });
    one->add_flag("--keep-made", line.keep_made, "keep the tokens that it created");
    add(app, "status", "Print the service, the token that is used, and what the queue holds", line,
        print_status);
    add(app, "version", "Print the version of the service", line,
        [](const HttpClient& c) { return print_version(c); });
}

}    // namespace slipway::client
