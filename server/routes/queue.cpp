#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "api/spec/job_spec.h"
#include "scheduler/store/host_pools.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/queue.h"
#include "scheduler/store/queue_stats.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {
namespace {

constexpr std::size_t listed_projects_max = 100;

/// The sum of several rows of totals.
struct QueueSum {
    std::int64_t jobs = 0;
    std::int64_t ready = 0;
    std::optional<Instant> oldest_ready_at;

    void add(const store::QueueTotal& total) {
        jobs += total.jobs;
        ready += total.ready();
        if (!total.oldest_ready_at) return;
        if (!oldest_ready_at || *total.oldest_ready_at < *oldest_ready_at)
            oldest_ready_at = total.oldest_ready_at;
    }
};

Json render_queue_sum(const char* key, std::string_view name, const QueueSum& sum, Instant now) {
    Json age;
    if (sum.oldest_ready_at)
        age = std::max(0.0, std::chrono::duration<double>(now - *sum.oldest_ready_at).count());
    return {{key, name}, {"jobs", sum.jobs}, {"ready", sum.ready}, {"oldest_ready_s", age}};
}

Json render_classes(const store::QueueStats& stats) {
    std::map<std::string, QueueSum> classes;
    for (const store::QueueTotal& total : stats.totals)
        classes[total.queue_class].add(total);
    Json rows = Json::array();
    for (const std::string_view word : Spelling<QueueClass>::words)
        if (const auto found = classes.find(std::string(word)); found != classes.end())
            rows.push_back(render_queue_sum("class", word, found->second, stats.now));
    return rows;
}

void put_projects(Json& out, const store::QueueStats& stats) {
    std::map<std::string, QueueSum> sums;
    for (const store::QueueTotal& total : stats.totals)
        sums[total.project].add(total);
    std::vector<std::pair<std::string, QueueSum>> projects(sums.begin(), sums.end());
    std::ranges::stable_sort(projects, std::greater{},
                             [](const auto& project) { return project.second.jobs; });
    const std::size_t listed = std::min(projects.size(), listed_projects_max);
    Json rows = Json::array();
    for (std::size_t i = 0; i < listed; ++i)
        rows.push_back(
            render_queue_sum("project", projects[i].first, projects[i].second, stats.now));
    out["by_project"] = std::move(rows);
    out["other_projects"] = projects.size() - listed;
}

/// Held jobs are counted exactly; of the ready ones the scheduler has looked at the first of each
/// kind, and the others stand behind them.
Json render_reasons(const store::QueueStats& stats, const WaitCounts& looked_at) {
    std::map<std::string, std::int64_t> codes = looked_at.by_code;
    codes["starting"] += looked_at.starting;
    std::int64_t behind = 0;
    for (const auto& [code, jobs] : codes)
        behind -= jobs;
    for (const store::QueueTotal& total : stats.totals) {
        behind += total.ready();
        codes["start_after"] += total.start_after;
        codes["waiting_for_dataset"] += total.waiting_for_dataset;
    }
    // Jobs that came between the two reads may have been looked at and not counted.
    codes["in_line"] += std::max<std::int64_t>(behind, 0);
    std::vector<std::pair<std::string, std::int64_t>> ordered(codes.begin(), codes.end());
    std::ranges::stable_sort(ordered, std::greater{}, [](const auto& one) { return one.second; });
    Json rows = Json::array();
    for (const auto& [code, jobs] : ordered)
        if (jobs > 0) rows.push_back({{"code", code}, {"jobs", jobs}});
    return rows;
}

Json render_rate(const store::QueueRate& rate) {
    const auto per_second = [&](std::int64_t count) {
        return static_cast<double>(count) / static_cast<double>(rate.window.count());
    };
    return {{"window_s", rate.window.count()},
            {"submitted", rate.submitted},
            {"started", rate.started},
            {"ended", rate.ended},
            {"submitted_per_s", per_second(rate.submitted)},
            {"started_per_s", per_second(rate.started)},
            {"ended_per_s", per_second(rate.ended)},
            {"wait_mean_s", rate.wait_mean_s ? Json(*rate.wait_mean_s) : Json()},
            {"wait_max_s", rate.wait_max_s ? Json(*rate.wait_max_s) : Json()}};
}

Json render_core_use(const std::vector<store::Core>& cores) {
    std::int64_t held = 0, free = 0, drained = 0, lost = 0;
    for (const store::Core& core : cores)
        ++(!core.job_id.empty()              ? held
           : core.drained || core.host_drain ? drained
           : core.alive                      ? free
                                             : lost);
    Json utilisation;
    if (held + free > 0) utilisation = static_cast<double>(held) / static_cast<double>(held + free);
    return {{"total", cores.size()}, {"held", held}, {"free", free},
            {"drained", drained},    {"lost", lost}, {"utilisation", utilisation}};
}

Json render_pools(store::Store& store, const std::vector<store::Core>& cores,
                  const std::vector<std::string>& projects) {
    std::map<std::string, std::vector<store::Core>> by_pool;
    for (const store::Core& core : cores)
        by_pool[core.pool].push_back(core);
    const std::map<std::string, std::int64_t> ready = store::count_ready_of_pools(store, projects);
    Json rows = Json::array();
    for (const auto& [pool, of_pool] : by_pool) {
        std::set<std::string_view> hosts;
        for (const store::Core& core : of_pool)
            hosts.insert(core.host);
        const auto found = ready.find(pool);
        rows.push_back({{"pool", pool},
                        {"hosts", hosts.size()},
                        {"ready", found == ready.end() ? 0 : found->second},
                        {"cores", render_core_use(of_pool)}});
    }
    return rows;
}

}    // namespace

Response list_queue(const Context& context) {
    const auto page = store::list_queue(context.services.store, context.who.projects(),
                                        query_page(context.request));
    std::vector<std::string> ids;
    for (const store::QueuedJob& job : page.items)
        ids.push_back(job.job_id);
    const std::map<std::string, StartEstimate> estimates = start_estimates(context, ids);
    Json items = Json::array();
    for (const store::QueuedJob& job : page.items) {
        const auto found = estimates.find(job.job_id);
        items.push_back(
            render(job, found == estimates.end() ? std::nullopt : std::optional(found->second)));
    }
    return json_response(render_list(std::move(items), page.next_cursor));
}

Response get_queue_stats(const Context& context) {
    const std::vector<std::string> projects = projects_asked(context);
    WaitCounts looked_at;
    if (context.services.count_waits) looked_at = context.services.count_waits(projects);
    const store::QueueStats stats = store::read_queue_stats(context.services.store, projects);
    QueueSum all;
    for (const store::QueueTotal& total : stats.totals)
        all.add(total);
    Json rates = Json::array();
    for (const store::QueueRate& rate : stats.rates)
        rates.push_back(render_rate(rate));
    const std::vector<store::Core> cores = store::list_cores(context.services.store);
    const std::string pool = store::find_default_pool(context.services.store);
    Json out{{"at", to_rfc3339(stats.now)},
             {"jobs", all.jobs},
             {"ready", all.ready},
             {"by_class", render_classes(stats)},
             {"by_reason", render_reasons(stats, looked_at)},
             {"rates", std::move(rates)},
             {"cores", render_core_use(cores)},
             {"pools", render_pools(context.services.store, cores, projects)},
             {"default_pool", pool.empty() ? Json() : Json(pool)}};
    put_projects(out, stats);
    return json_response(out);
}

}    // namespace slipway::routes
