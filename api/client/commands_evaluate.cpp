#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "api/client/checkpoint_source.h"
#include "api/client/commands.h"
#include "api/client/follow.h"

namespace slipway::client {
namespace {

Json evaluation_request(const EvaluateOptions& options) {
    Json data = Json::object();
    if (!options.dataset.empty()) data["dataset"] = options.dataset;
    if (!options.part.empty()) data["part"] = options.part;
    if (!options.split.empty()) data["split"] = options.split;
    Json request{{"project", options.project},
                 {"from", checkpoint_source(options.from, options.checkpoint)},
                 {"data", std::move(data)},
                 {"accelerator", {{"cores", options.cores}}}};
    if (!options.precision.empty()) request["precision"] = options.precision;
    return request;
}

/// A metric that is no number is under "nonfinite".
void print_result_of(const Json& job) {
    constexpr std::array<std::string_view, 3> places{"step", "epoch", "nonfinite"};
    const Json result = job.value("result", Json::object());
    if (!result.is_object()) return;
    const Json nonfinite = result.value("nonfinite", Json::object());
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, value] : result.items()) {
        if (std::ranges::find(places, name) != places.end()) continue;
        const bool is_named = value.is_null() && nonfinite.contains(name);
        rows.push_back({name, value.is_number() ? value.dump()
                              : is_named        ? cell(nonfinite, name.c_str())
                                                : cell(result, name.c_str())});
    }
    print_table({"metric", "value"}, rows);
}

}    // namespace

ExitCode evaluate(const HttpClient& client, const EvaluateOptions& options) {
    const Json job = call(client, "POST", "/v1/evaluations", evaluation_request(options));
    const std::string id = cell(job, "id");
    if (!options.follow) {
        fmt::print("{}\n", id);
        return ExitCode::ok;
    }
    fmt::print("{} ({})\n", cell(job, "name"), id);
    const ExitCode ended = follow_job(client, id);
    if (ended == ExitCode::ok) print_result_of(get(client, "/v1/jobs/" + percent_encode(id)));
    return ended;
}

}    // namespace slipway::client
