#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/client/commands.h"

namespace slipway::client {

ExitCode print_queue_stats(const HttpClient& client, const std::string& project) {
    const std::string query = project.empty() ? "" : "?project=" + percent_encode(project);
    const Json stats = get(client, "/v1/queue/stats" + query);
    const Json& cores = stats.at("cores");
    fmt::print("{} jobs queued, {} of them ready; {} of {} cores held, {} free\n\n",
               cell(stats, "jobs"), cell(stats, "ready"), cell(cores, "held"), cell(cores, "total"),
               cell(cores, "free"));
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : stats.at("by_class"))
        rows.push_back({cell(one, "class"), "", cell(one, "jobs"), cell(one, "ready"),
                        cell(one, "oldest_ready_s")});
    for (const Json& one : stats.at("by_project"))
        rows.push_back({"", cell(one, "project"), cell(one, "jobs"), cell(one, "ready"),
                        cell(one, "oldest_ready_s")});
    print_table({"class", "project", "jobs", "ready", "oldest s"}, rows);
    rows.clear();
    for (const Json& one : stats.at("by_reason"))
        rows.push_back({cell(one, "code"), cell(one, "jobs")});
    fmt::print("\n");
    print_table({"reason", "jobs"}, rows);
    rows.clear();
    for (const Json& one : stats.at("rates"))
        rows.push_back({cell(one, "window_s"), cell(one, "submitted"), cell(one, "started"),
                        cell(one, "ended"), cell(one, "wait_mean_s"), cell(one, "wait_max_s")});
    fmt::print("\n");
    print_table({"last s", "submitted", "started", "ended", "mean wait s", "longest wait s"}, rows);
    return ExitCode::ok;
}

}    // namespace slipway::client
