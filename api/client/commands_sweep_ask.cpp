#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "api/base/printable.h"
#include "api/client/commands.h"
#include "api/client/sweep_commands.h"
#include "api/client/sweep_text.h"

namespace slipway::client {
namespace {

std::string percent_text(const Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_number()) return "–";
    return fmt::format("{:.1f} %", 100 * found->get<double>());
}

// `text` as the fields of an observation: a number, or one of the words of the API.
void put_observed(Json& body, const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(value))
        body["value"] = value;
    else if (text == "nan" || text == "inf" || text == "-inf")
        body["nonfinite"] = text;
    else
        throw Stop(ExitCode::usage, fmt::format("{} is no value; a number, nan, inf or -inf is one",
                                                printable_line(text)));
}

Json named_algorithm(const std::string& text) {
    if (text.empty() || text.front() != '{') return {{"name", text}};
    Json parsed = Json::parse(text, nullptr, false);
    if (parsed.is_discarded())
        throw Stop(ExitCode::usage, "the algorithm is neither a name nor an object in JSON");
    return parsed;
}

}    // namespace

ExitCode suggest_trials(const HttpClient& client, const std::string& sweep_id,
                        const SuggestOptions& options) {
    Json body{{"count", options.count}};
    if (options.lease_s > 0) body["lease_s"] = options.lease_s;
    const Json answer = call(client, "POST", sweep_path(sweep_id) + "/suggest", body);
    if (options.json) {
        fmt::print("{}\n", printable_text(answer.dump(2)));
        return ExitCode::ok;
    }
    std::vector<std::vector<std::string>> rows;
    for (const Json& trial : answer.at("trials"))
        rows.push_back(
            {cell(trial, "number"), cell(trial, "until"), point_text(trial.at("point"))});
    if (!rows.empty()) print_table({"trial", "until", "point"}, rows);
    if (answer.at("message").is_string())
        fmt::print("{}: {}\n", cell(answer, "state"), cell(answer, "message"));
    return ExitCode::ok;
}

ExitCode observe_trial(const HttpClient& client, const std::string& sweep_id,
                       const ObserveOptions& options) {
    Json body = Json::object();
    if (options.time > 0) body["time"] = options.time;
    if (!options.value.empty()) put_observed(body, options.value);
    if (!options.end.empty()) body["end"] = options.end;
    if (options.lease_s > 0) body["lease_s"] = options.lease_s;
    const Json trial =
        call(client, "POST",
             fmt::format("{}/trials/{}/observe", sweep_path(sweep_id), options.trial), body);
    fmt::print("trial {} {}\n", cell(trial, "number"), cell(trial, "state"));
    if (trial.at("reason").is_string()) fmt::print("{}\n", cell(trial, "reason"));
    return ExitCode::ok;
}

ExitCode show_importance(const HttpClient& client, const std::string& sweep_id) {
    const Json answer = get(client, sweep_path(sweep_id) + "/importance");
    if (answer.at("items").empty()) {
        fmt::print("fewer than 4 trials have a value to compare\n");
        return ExitCode::ok;
    }
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : answer.at("items"))
        rows.push_back(
            {cell(one, "parameter"), percent_text(one, "explained"), percent_text(one, "total")});
    print_table({"parameter", "explains", "with pairs"}, rows);
    rows.clear();
    for (const Json& one : answer.at("pairs")) {
        const Json& of = one.at("parameters");
        rows.push_back({printable_line(of.at(0).get<std::string>()),
                        printable_line(of.at(1).get<std::string>()),
                        percent_text(one, "explained")});
    }
    if (!rows.empty()) print_table({"pair", "", "explains"}, rows);
    return ExitCode::ok;
}

ExitCode simulate_sweep(const HttpClient& client, const std::string& sweep_id,
                        const SweepSimulateOptions& options) {
    Json body{{"algorithm", named_algorithm(options.algorithm)}};
    if (options.max_concurrent > 0) body["max_concurrent"] = options.max_concurrent;
    const Json done = call(client, "POST", sweep_path(sweep_id) + "/simulate", body);
    const Json& best = done.at("best");
    const std::string found =
        best.is_object() ? fmt::format("{} (trial {})", cell(best, "value"), cell(best, "trial"))
                         : "–";
    print_table({"", "recorded", "simulated"},
                {{"epochs or steps", cell(done, "time_recorded"), cell(done, "time_used")},
                 {"best value", "", found},
                 {"worse than the recorded best by", "", cell(done, "regret")},
                 {"saved", "", percent_text(done, "saved")},
                 {"saved core-seconds", "", cell(done, "core_s_saved")},
                 {"trials", "", cell(done, "trials")},
                 {"of these with an incomplete record", "", cell(done, "cut_short")}});
    return ExitCode::ok;
}

}    // namespace slipway::client
