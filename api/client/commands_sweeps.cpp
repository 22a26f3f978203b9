#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "api/base/plural.h"
#include "api/base/printable.h"
#include "api/client/commands.h"
#include "api/client/further.h"
#include "api/client/request_document.h"
#include "api/client/request_kind.h"
#include "api/client/status_line.h"
#include "api/client/sweep_commands.h"
#include "api/client/sweep_text.h"
#include "api/client/watch_stream.h"

namespace slipway::client {
namespace {

long long count_in(const Json& sweep, const char* name) {
    return sweep.at("trials").at(name).get<long long>();
}

std::string best_text_of(const Json& sweep) {
    const Json& best = sweep.at("best");
    if (!best.is_object()) return "–";
    return fmt::format("{} (trial {})", cell(best, "value"), cell(best, "trial"));
}

// "running  23/81 trials, 8 running, 12 stopped  best val_loss 0.123 (trial 7)"
std::string sweep_line(const Json& sweep) {
    const long long ended =
        count_in(sweep, "completed") + count_in(sweep, "stopped") + count_in(sweep, "failed");
    std::string line =
        fmt::format("{}  {}/{} trials", cell(sweep, "state"), ended, cell(sweep, "max_trials"));
    for (const char* word : {"running", "paused", "stopped", "failed"})
        if (count_in(sweep, word) > 0) line += fmt::format(", {} {}", count_in(sweep, word), word);
    line += fmt::format("  best {} {}", cell(sweep.at("spec").at("objective"), "metric"),
                        best_text_of(sweep));
    return line;
}

bool sweep_has_ended(const Json& sweep) {
    const std::string state = cell(sweep, "state");
    return state == "finished" || state == "stopped" || state == "failed";
}

ExitCode exit_code_of_sweep(const Json& sweep) {
    const std::string state = cell(sweep, "state");
    if (state == "finished") return ExitCode::ok;
    return state == "stopped" ? ExitCode::cancelled : ExitCode::job_failed;
}

Json act_on(const HttpClient& client, const std::string& sweep_id, const std::string& verb,
            const Json& body = Json::object()) {
    return call(client, "POST", sweep_path(sweep_id) + "/" + verb, body);
}

}    // namespace

std::string sweep_path(const std::string& sweep_id) {
    return "/v1/sweeps/" + percent_encode(sweep_id);
}

std::string point_text(const Json& point) {
    std::string text;
    for (const auto& [path, value] : point.items())
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", path,
                            value.is_string() ? value.get<std::string>() : value.dump());
    return printable_line(text);
}

std::string rounded_point_text(const Json& point) {
    std::string text;
    for (const auto& [path, value] : point.items())
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", printable_line(path),
                            cell(point, path.c_str()));
    return text;
}

ExitCode create_sweep(const HttpClient& client, const SweepOptions& options) {
    const Json sweep =
        post_document(client, options.dry_run ? "/v1/sweeps?dry_run=true" : "/v1/sweeps",
                      request_document(options.file, options.changes, {}), RequestKind::sweep);
    if (options.dry_run) {
        fmt::print("{}\n", printable_text(sweep.dump(2)));
        return ExitCode::ok;
    }
    fmt::print("{}\n", cell(sweep, "id"));
    return options.watch ? watch_sweep(client, cell(sweep, "id")) : ExitCode::ok;
}

Listing list_sweeps(const HttpClient& client) {
    std::vector<std::vector<std::string>> rows;
    const Json items = get_items(client, "/v1/sweeps", 50);
    for (const Json& sweep : items)
        rows.push_back({cell(sweep, "id"), cell(sweep, "name"),
                        cell(sweep.at("spec").at("algorithm"), "name"), cell(sweep, "state"),
                        fmt::format("{}/{}", count_in(sweep, "total"), cell(sweep, "max_trials")),
                        cell(sweep.at("spec").at("objective"), "metric"), best_text_of(sweep),
                        cell(sweep, "created_at").substr(0, 19)});
    return {.head = {"id", "name", "algorithm", "state", "trials", "objective", "best", "created"},
            .rows = std::move(rows),
            .items = items};
}

ExitCode show_sweep(const HttpClient& client, const std::string& sweep_id) {
    fmt::print("{}\n", printable_text(get(client, sweep_path(sweep_id)).dump(2)));
    return ExitCode::ok;
}

ExitCode watch_sweep(const HttpClient& client, const std::string& sweep_id) {
    StatusLine line;
    Json sweep;
    watch_stream(client, sweep_path(sweep_id) + "/events", [&] {
        sweep = get(client, sweep_path(sweep_id));
        line.show(sweep_line(sweep));
        return sweep_has_ended(sweep);
    });
    line.end();
    if (sweep.at("reason").is_object())
        fmt::print("{}\n", printable_line(cell(sweep.at("reason"), "message")));
    const std::string id = cell(sweep, "id");
    const std::string first = sweep.at("best").is_object() ? "sweep best " : "sweep decisions ";
    const std::array commands{first + id, "sweep trials " + id};
    print_further(client, "sweep", commands, "sweeps/" + id);
    return exit_code_of_sweep(sweep);
}

Listing list_sweep_trials(const HttpClient& client, const std::string& sweep_id,
                          const std::string& order) {
    std::vector<std::vector<std::string>> rows;
    const Json items = get_items(client, sweep_path(sweep_id) + "/trials?order_by=" + order, 1000);
    for (const Json& trial : items)
        rows.push_back({cell(trial, "number"), cell(trial, "state"), cell(trial, "value"),
                        cell(trial, "value_time"), cell(trial, "last_time"),
                        rounded_point_text(trial.at("point")), cell(trial, "job_id"),
                        cell(trial, "reason")});
    return {.head = {"trial", "state", "value", "time", "trained", "point", "job", "reason"},
            .rows = std::move(rows),
            .items = items};
}

/// The weights with a value, or why there are none.
std::string checkpoint_text(const Json& of) {
    if (!of.at("checkpoint_id").is_null()) return "checkpoint " + cell(of, "checkpoint_id");
    return "no checkpoint: " + printable_line(cell(of, "checkpoint_reason"));
}

ExitCode show_best(const HttpClient& client, const std::string& sweep_id, bool spec_only) {
    const Json best = get(client, sweep_path(sweep_id) + "/best");
    if (spec_only) {
        fmt::print("{}\n", printable_text(best.at("spec").dump(2)));
        return ExitCode::ok;
    }
    const Json& trial = best.at("trial");
    fmt::print("trial {}: {} at {}\n{}\njob {}\n{}\n", cell(trial, "number"), cell(trial, "value"),
               cell(trial, "value_time"), point_text(trial.at("point")), cell(best, "job_id"),
               checkpoint_text(best));
    for (const Json& fold : best.at("folds"))
        fmt::print("fold {}: {}, {}\n", cell(fold, "fold"), cell(fold, "value"),
                   checkpoint_text(fold));
    return ExitCode::ok;
}

Listing list_sweep_decisions(const HttpClient& client, const std::string& sweep_id) {
    std::string after = "0";
    std::vector<std::vector<std::string>> rows;
    Json items = Json::array();
    while (!after.empty()) {
        const Json page = get(client, sweep_path(sweep_id) + "/decisions?limit=200&after=" + after);
        for (const Json& one : page.at("items")) {
            rows.push_back(
                {cell(one, "seq"), cell(one, "action"), cell(one, "trial"), cell(one, "reason")});
            items.push_back(one);
        }
        after = page.at("next_cursor").is_string() ? page.at("next_cursor").get<std::string>() : "";
    }
    return {.head = {"seq", "action", "trial", "reason"}, .rows = std::move(rows), .items = items};
}

ExitCode act_on_sweep(const HttpClient& client, const std::string& sweep_id,
                      const std::string& verb) {
    const Json sweep = act_on(client, sweep_id, verb);
    fmt::print("{} {}\n", cell(sweep, "id"), cell(sweep, "state"));
    return ExitCode::ok;
}

ExitCode extend_sweep(const HttpClient& client, const std::string& sweep_id, int max_trials) {
    const Json sweep = act_on(client, sweep_id, "extend", {{"max_trials", max_trials}});
    fmt::print("{} {}, at most {}\n", cell(sweep, "id"), cell(sweep, "state"),
               counted(sweep.at("max_trials").get<std::int64_t>(), "trial"));
    return ExitCode::ok;
}

ExitCode retry_trial(const HttpClient& client, const std::string& sweep_id, int trial) {
    const Json again = act_on(client, sweep_id, fmt::format("trials/{}/retry", trial));
    fmt::print("trial {} {}\n", cell(again, "number"), cell(again, "state"));
    return ExitCode::ok;
}

ExitCode retry_sweep(const HttpClient& client, const std::string& sweep_id,
                     const RetryOptions& options) {
    return retry_failed(client, sweep_path(sweep_id), options, "trial", "number");
}

ExitCode change_sweep(const HttpClient& client, const std::string& sweep_id,
                      const SweepChangeOptions& options) {
    Json body = Json::object();
    if (!options.name.empty()) body["name"] = options.name;
    if (options.max_concurrent > 0) body["max_concurrent"] = options.max_concurrent;
    if (!options.labels.empty()) {
        Json labels = get(client, sweep_path(sweep_id)).at("labels");
        for (const std::string& text : options.labels) {
            const std::size_t sign = text.find('=');
            if (sign == std::string::npos || sign == 0)
                throw Stop(ExitCode::usage, fmt::format("{} is not KEY=VALUE; KEY= removes a label",
                                                        printable_line(text)));
            if (sign + 1 == text.size())
                labels.erase(text.substr(0, sign));
            else
                labels[text.substr(0, sign)] = text.substr(sign + 1);
        }
        body["labels"] = std::move(labels);
    }
    if (body.empty())
        throw Stop(ExitCode::usage, "nothing to change; give --name, --label or --max-concurrent");
    const Json sweep = call(client, "PATCH", sweep_path(sweep_id), body);
    fmt::print("{} {}, at most {} at a time\n", cell(sweep, "id"), cell(sweep, "name"),
               counted(sweep.at("max_concurrent").get<std::int64_t>(), "trial"));
    return ExitCode::ok;
}

ExitCode delete_sweep(const HttpClient& client, const std::string& sweep_id) {
    call(client, "DELETE", sweep_path(sweep_id), nullptr);
    fmt::print("{} deleted\n", sweep_id);
    return ExitCode::ok;
}

}    // namespace slipway::client
