#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scheduler/store/host_pools.h"
#include "scheduler/store/hosts.h"
#include "scheduler/submission/job_kinds.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/submissions.h"

namespace slipway::routes {
namespace {

constexpr std::size_t listed_changes_max = 100;

std::optional<std::chrono::seconds> time_limit(const JobSpec& spec) {
    std::optional<double> limit_s = spec.limits.max_wall_s;
    if (spec.limits.max_core_s) {
        const double by_cores =
            *spec.limits.max_core_s / static_cast<double>(spec.accelerator.cores);
        limit_s = std::min(limit_s.value_or(by_cores), by_cores);
    }
    if (!limit_s) return std::nullopt;
    return std::chrono::seconds(static_cast<std::int64_t>(std::min(*limit_s, 1e12)));
}

// The job as the queue would hold it.
store::QueuedJob as_queued(store::Store& store, const submission::CheckedJob& checked,
                           Instant now) {
    const JobSpec& spec = checked.spec;
    store::QueuedJob job;
    job.pool = store::resolve_pool(store, spec.queue.pool);
    job.job_id = "simulated";
    job.project = spec.project;
    job.class_rank = static_cast<int>(spec.queue.job_class);
    job.cores = static_cast<int>(spec.accelerator.cores);
    if (spec.accelerator.core_id) job.core_id = static_cast<int>(*spec.accelerator.core_id);
    job.memory_bytes = spec.accelerator.memory_bytes;
    job.not_before = spec.limits.start_after;
    job.due = !job.not_before || *job.not_before <= now;
    job.dataset_id = checked.dataset_id();
    if (checked.dataset) job.dataset_state = to_string(checked.dataset->state);
    job.runs_at_most = time_limit(spec);
    job.preemptible = spec.queue.preemptible;
    job.group = spec.queue.group;
    if (spec.queue.group_limit) job.group_limit = static_cast<int>(*spec.queue.group_limit);
    return job;
}

/// Hosts of no pool in particular are like those where a job runs that names none.
std::string pool_of_more_hosts(store::Store& store) {
    std::string pool = store::find_default_pool(store);
    return pool.empty() ? store::Host{}.pool : pool;
}

submission::CheckedJob check_job(const Context& context, JobSpec spec) {
    require_project(context.who, context.endpoint.access, spec.project);
    Decoded<submission::CheckedJob> checked =
        submission::row_of(JobKind::train)
            .check({.value = std::move(spec), .problems = {}}, submitter_of(context.who),
                   context.services.store);
    for (Problem& problem : checked.problems)
        problem.pointer.insert(0, "/job");
    return require_job(std::move(checked), "the job to simulate");
}

QueueChange read_change(const Context& context, QueueSimulateBody body) {
    QueueChange change{.new_job = {},
                       .job_id = body.job_id,
                       .class_rank = {},
                       .more_hosts = static_cast<int>(body.more_hosts),
                       .cores_per_host = static_cast<int>(body.cores_per_host),
                       .pool = body.pool};
    if (change.pool.empty()) change.pool = pool_of_more_hosts(context.services.store);
    if (body.job_class) change.class_rank = static_cast<int>(*body.job_class);
    if (body.job)
        change.new_job = as_queued(context.services.store, check_job(context, *std::move(body.job)),
                                   context.services.clock.now());
    if (change.job_id.empty()) return change;
    const auto job = store::find_job(context.services.store, change.job_id);
    if (!job || !context.who.sees(job->project)) throw_not_found("job", change.job_id);
    if (job->state != JobState::queued)
        throw Error{ErrorCode::conflict,
                    fmt::format("job {} is {}; only a queued job can be simulated", job->id,
                                to_string(job->state))};
    return change;
}

double seconds_between(Instant begin, Instant end) {
    return std::max(0.0, std::chrono::duration<double>(end - begin).count());
}

Json text_or_nothing(const std::string& text) {
    return text.empty() ? Json() : Json(text);
}

Json render_simulated_job(const Context& context, const QueueChange& change,
                          const SimulatedQueue& found) {
    if (!change.new_job && change.job_id.empty()) return nullptr;
    WaitExplanation waits{.code = found.wait_code,
                          .message = found.wait_message,
                          .cores = {},
                          .blocking_job = found.blocking_job};
    hide_foreign_job(context, waits);
    Json out{{"job_id", text_or_nothing(change.job_id)},
             {"starts_at", nullptr},
             {"starts_in_s", nullptr},
             {"host", nullptr},
             {"cores", nullptr},
             {"estimate_from", nullptr},
             {"unchanged_starts_at", nullptr},
             {"code", text_or_nothing(waits.code)},
             {"message", text_or_nothing(waits.message)},
             {"blocking_job", text_or_nothing(waits.blocking_job)}};
    if (found.without) out["unchanged_starts_at"] = to_rfc3339(found.without->at);
    if (!found.with) return out;
    out["starts_at"] = to_rfc3339(found.with->at);
    out["starts_in_s"] = seconds_between(found.now, found.with->at);
    out["host"] = found.with->host;
    out["cores"] = found.with->cores;
    out["estimate_from"] = found.with->from;
    return out;
}

Json render_changes(const Context& context, const std::vector<StartChange>& changes) {
    Json rows = Json::array();
    for (const StartChange& one : changes) {
        if (rows.size() == listed_changes_max) break;
        if (!context.who.sees(one.project)) continue;
        Json by;
        if (one.before && one.after)
            by = std::max(seconds_between(*one.before, *one.after),
                          seconds_between(*one.after, *one.before));
        rows.push_back({{"job_id", one.job_id},
                        {"project", one.project},
                        {"before_at", render_time(one.before)},
                        {"after_at", render_time(one.after)},
                        {"by_s", by}});
    }
    return rows;
}

}    // namespace

Response simulate_queue(const Context& context) {
    const QueueChange change =
        read_change(context, read_body(context.request, decode_queue_simulate, "the simulation"));
    if (!context.services.simulate_queue)
        throw Error{ErrorCode::unavailable, "this service has no scheduler to simulate with"};
    const SimulatedQueue found = context.services.simulate_queue(change);
    return json_response({{"at", to_rfc3339(found.now)},
                          {"job", render_simulated_job(context, change, found)},
                          {"delayed_jobs", found.later.size()},
                          {"delayed", render_changes(context, found.later)},
                          {"sooner_jobs", found.sooner.size()},
                          {"sooner", render_changes(context, found.sooner)},
                          {"jobs", found.jobs},
                          {"complete", found.complete},
                          {"until", to_rfc3339(found.until)}});
}

}    // namespace slipway::routes
