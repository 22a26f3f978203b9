#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/plural.h"
#include "api/client/commands.h"

namespace slipway::client {

namespace {

void print_pools(const Json& pools) {
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : pools) {
        const Json& cores = one.at("cores");
        rows.push_back({cell(one, "pool"), cell(one, "hosts"), cell(cores, "total"),
                        cell(cores, "held"), cell(cores, "free"), cell(one, "ready")});
    }
    if (rows.empty()) return;
    fmt::print("\n");
    print_table({"pool", "hosts", "cores", "held", "free", "ready jobs of it"}, rows);
}

}    // namespace

ExitCode print_queue_stats(const HttpClient& client, const std::string& project) {
    const std::string query = project.empty() ? "" : "?project=" + percent_encode(project);
    const Json stats = get(client, "/v1/queue/stats" + query);
    const Json& cores = stats.at("cores");
    fmt::print("{} queued, {} ready; {} of {} cores held, {} free\n\n",
               counted(stats.at("jobs").get<std::int64_t>(), "job"), cell(stats, "ready"),
               cell(cores, "held"), cell(cores, "total"), cell(cores, "free"));
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
    print_pools(stats.at("pools"));
    return ExitCode::ok;
}

namespace {

void print_simulated_job(const Json& job) {
    if (job.at("starts_at").is_null()) {
        fmt::print("the job would not start within the simulated time\n");
    } else {
        fmt::print("the job would start at {}, in {} s, on {} (estimated from: {})\n",
                   cell(job, "starts_at"), cell(job, "starts_in_s"), cell(job, "host"),
                   cell(job, "estimate_from"));
    }
    if (!job.at("unchanged_starts_at").is_null())
        fmt::print("without the change: at {}\n", cell(job, "unchanged_starts_at"));
    if (!job.at("code").is_null()) fmt::print("it would wait at first: {}\n", cell(job, "message"));
}

void print_changed_starts(const Json& jobs) {
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : jobs)
        rows.push_back({cell(one, "job_id"), cell(one, "project"), cell(one, "before_at"),
                        cell(one, "after_at"), cell(one, "by_s")});
    if (!rows.empty()) print_table({"job", "project", "before", "after", "by s"}, rows);
}

}    // namespace

Listing list_decisions(const HttpClient& client, const std::string& job_id) {
    constexpr std::size_t shown_max = 200;
    const std::string query = job_id.empty() ? "" : "?job=" + percent_encode(job_id);
    std::vector<std::vector<std::string>> rows;
    const Json items = get_items(client, "/v1/decisions" + query, shown_max);
    for (const Json& one : items)
        rows.push_back({cell(one, "at"), cell(one, "job_id"), cell(one, "kind"), cell(one, "code"),
                        cell(one, "message")});
    return {.head = {"at", "job", "decision", "code", "reason"},
            .rows = std::move(rows),
            .items = items};
}

ExitCode simulate_queue(const HttpClient& client, const SimulateOptions& options) {
    Json body = Json::object();
    if (!options.file.empty()) body["job"] = read_json(options.file);
    if (!options.job_id.empty()) body["job_id"] = options.job_id;
    if (!options.job_class.empty()) body["class"] = options.job_class;
    if (options.more_hosts > 0)
        body.update(
            {{"more_hosts", options.more_hosts}, {"cores_per_host", options.cores_per_host}});
    if (!options.pool.empty()) body["pool"] = options.pool;
    const Json found = call(client, "POST", "/v1/queue/simulate", body);
    if (!found.at("job").is_null()) print_simulated_job(found.at("job"));
    fmt::print("{} of {} queued jobs would start later, {} sooner{}\n", cell(found, "delayed_jobs"),
               cell(found, "jobs"), cell(found, "sooner_jobs"),
               found.at("complete").get<bool>()
                   ? ""
                   : fmt::format("; simulated until {}", cell(found, "until")));
    print_changed_starts(found.at("delayed"));
    print_changed_starts(found.at("sooner"));
    return ExitCode::ok;
}

}    // namespace slipway::client
