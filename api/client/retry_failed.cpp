#include "api/client/retry_failed.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/client/commands.h"

namespace slipway::client {

ExitCode retry_failed(const HttpClient& client, const std::string& path,
                      const RetryOptions& options, const char* part, const char* number) {
    Json body = Json::object();
    if (!options.codes.empty()) body["codes"] = options.codes;
    const Json answer =
        call(client, "POST", path + (options.dry_run ? "/retry?dry_run=true" : "/retry"), body);
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : answer.at("items"))
        rows.push_back({cell(one, number), cell(one, "code"), cell(one, "reason")});
    if (!rows.empty()) print_table({part, "code", "reason"}, rows);
    fmt::print("{} {}s {}, {} left; {}\n", cell(answer, "retried"), part,
               options.dry_run ? "would be retried" : "are retried", cell(answer, "left"),
               cell(answer, "state"));
    if (answer.at("retried") == 0 && !answer.at("codes").empty()) {
        for (const auto& [code, failed] : answer.at("codes").items())
            fmt::print("{} failed with {}\n", failed.get<std::int64_t>(), code);
    }
    return ExitCode::ok;
}

}    // namespace slipway::client
