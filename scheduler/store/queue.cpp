#include "scheduler/store/queue.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "scheduler/store/decision_steps.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

Statement place_statement(std::span<const Placement> placements) {
    std::vector<std::string> ids;
    std::vector<std::string> fences;
    std::vector<double> leases_s;
    std::vector<std::string> job_ids;
    std::vector<int> ranks;
    std::vector<std::string> hosts;
    std::vector<int> cores;
    for (const Placement& placement : placements) {
        ids.push_back(placement.job_id);
        fences.push_back(placement.fence);
        leases_s.push_back(std::chrono::duration<double>(placement.lease).count());
        for (std::size_t rank = 0; rank < placement.members.size(); ++rank) {
            for (const int core : placement.members[rank].cores) {
                job_ids.push_back(placement.job_id);
                ranks.push_back(int(rank));
                hosts.push_back(placement.members[rank].host);
                cores.push_back(core);
            }
        }
    }
    return {&queries::place_jobs, {ids, fences, leases_s, job_ids, ranks, hosts, cores}};
}

/// The refusals that mean "somebody else was faster": a core is leased, a job is live, a lock is
/// held. Whatever else is wrong with a placement (an unknown host gives no row) is the caller's.
bool lost_race(const PgError& error) {
    return error.sqlstate() == "23505" || error.sqlstate() == "55P03";
}

std::vector<PlacementOutcome> place_together(Store& store, std::span<const Placement> placements,
                                             const LeaderTerm& term) {
    std::vector<Statement> statements{{&queries::keep_plans, {}}, place_statement(placements)};
    if (auto decided = starts_statement(placements)) statements.push_back(*std::move(decided));
    const std::vector<Rows> answers = write_as_leader(store.pool(), term, std::move(statements));
    std::map<std::string, int, std::less<>> attempts;
    for (const Row row : answers[1])
        attempts.emplace(row.text("job_id"), row.small("attempt"));
    std::vector<PlacementOutcome> outcomes;
    for (const Placement& placement : placements) {
        const auto found = attempts.find(placement.job_id);
        outcomes.push_back({placement.job_id, found == attempts.end()
                                                  ? std::nullopt
                                                  : std::optional<int>(found->second)});
    }
    return outcomes;
}

PlacementOutcome place_alone(Store& store, const Placement& placement, const LeaderTerm& term) {
    try {
        return place_together(store, std::span(&placement, 1), term).front();
    } catch (const PgError& error) {
        // A lost race is an answer, not a failure.
        if (!lost_race(error)) throw;
        return {placement.job_id, std::nullopt};
    }
}

/// A place in the queue's order, as a cursor's sort key.
std::string sort_key_of(const Row& row) {
    return fmt::format("{} {}", row.small("class_rank"), to_rfc3339(row.time("queued_at")));
}

/// The place after which a page begins: of the first one, before every job.
std::vector<Param> place_params(const std::optional<CursorPlace>& place) {
    if (!place) return {-1, "-infinity", ""};
    const std::size_t space = place->sort_key.find(' ');
    return {place->sort_key.substr(0, space), place->sort_key.substr(space + 1), place->id};
}

/// What every list of waiting jobs has.
QueuedJob read_wanted_cores(const Row& row) {
    QueuedJob job;
    job.job_id = row.text("job_id");
    job.project = row.text("project");
    job.class_rank = row.small("class_rank");
    job.queued_at = row.time("queued_at");
    job.cores = row.small("cores");
    job.core_id = row.maybe_small("core_id");
    job.pool = row.text("pool");
    return job;
}

std::optional<std::chrono::seconds> time_left(const Row& row) {
    const auto seconds = row.maybe_number("runs_at_most_s");
    if (!seconds) return std::nullopt;
    return std::chrono::seconds(std::int64_t(std::min(std::ceil(*seconds), 1e12)));
}

/// What placement asks for besides.
void read_rules(const Row& row, QueuedJob& job) {
    job.memory_bytes = row.maybe_integer("memory_bytes");
    job.runs_at_most = time_left(row);
    job.eta_s = row.maybe_number("eta_s");
    job.group = row.text("group_name");
    job.group_limit = row.maybe_small("group_limit");
    job.crash_key = row.text("crash_key");
}

QueuedJob read_waiting(const Row& row) {
    QueuedJob job = read_wanted_cores(row);
    job.not_before = row.maybe_time("not_before");
    job.due = row.flag("due");
    job.dataset_id = row.text("dataset_id");
    job.dataset_state = row.text("dataset_state");
    return job;
}

QueuedJob read_listed(const Row& row) {
    QueuedJob job = read_waiting(row);
    job.name = row.text("name");
    job.queue_class = row.text("queue_class");
    job.valid_until = row.maybe_time("valid_until");
    job.position = row.maybe_small("position");
    return job;
}

std::vector<Param> held_params(const std::optional<HeldAttempts>& held) {
    if (!held) return {std::nullopt, std::nullopt};
    return {held->job_ids, held->attempts};
}

std::vector<Param> starts_params(const std::optional<ReadyStarts>& starts) {
    constexpr std::size_t params = 7;
    if (!starts) return std::vector<Param>(params, std::nullopt);
    std::vector<std::string> projects;
    std::vector<std::string> groups;
    std::vector<std::string> pools;
    std::vector<std::int64_t> shapes;
    std::vector<int> class_ranks;
    std::vector<Param> queued_at;
    for (const ReadyStarts::Shape& shape : starts->shapes) {
        projects.push_back(shape.project);
        groups.push_back(shape.group);
        pools.push_back(shape.pool);
        shapes.push_back(shape.shape);
        class_ranks.push_back(shape.class_rank);
        queued_at.emplace_back(shape.queued_at);
    }
    return {projects,           groups, pools, shapes, class_ranks, Param::array(queued_at),
            starts->fresh_since};
}

/// The first row of each shape, in the order of class and age, is where it begins.
class StartsOfShapes {
public:
    void add(const Row& row) {
        starts_.fresh_since = row.time("fresh_since");
        ReadyStarts::Shape shape{.project = row.text("project"),
                                 .group = row.text("group_name"),
                                 .pool = row.text("pool"),
                                 .shape = row.integer("shape")};
        if (!seen_.emplace(shape.project, shape.group, shape.pool, shape.shape).second) return;
        // A shape that may not start was not looked into: it begins where the queue does.
        if (!row.is_null("job_id")) {
            shape.class_rank = row.small("class_rank");
            // A submission that was under way may yet come to stand in front of the first one.
            shape.queued_at = std::min(row.time("queued_at"), starts_.fresh_since);
        }
        starts_.shapes.push_back(std::move(shape));
    }
    ReadyStarts take() { return std::move(starts_); }

private:
    ReadyStarts starts_;
    std::set<std::tuple<std::string, std::string, std::string, std::int64_t>> seen_;
};

int position_after(Store& store, std::string_view project, std::string_view pool,
                   const std::vector<Param>& place) {
    Statement count{&queries::count_ready_ahead, place};
    count.params.emplace_back(queue_position_max);
    count.params.emplace_back(project);
    count.params.emplace_back(pool);
    return 1 + read(store.pool(), count)[0].small("jobs");
}

}    // namespace

Page<QueuedJob> list_queue(Store& store, const std::vector<std::string>& projects,
                           const PageRequest& page) {
    std::string scope = "queue";
    for (const std::string& project : projects)
        scope += "\nproject " + project;
    Statement list{projects.empty() ? &queries::list_queue : &queries::list_queue_of_projects,
                   place_params(read_cursor(scope, page.cursor))};
    list.params.emplace_back(rows_to_ask(page));
    list.params.emplace_back(queue_position_max);
    if (!projects.empty()) list.params.emplace_back(projects);
    return make_page<QueuedJob>(read(store.pool(), list), page, scope, read_listed,
                                [](const Row& row) {
                                    return CursorPlace{row.text("job_id"), sort_key_of(row)};
                                });
}

std::vector<QueuedJob> list_ready_jobs(Store& store, int of_each_shape,
                                       const std::optional<HeldAttempts>& held) {
    return read_ready_jobs(store, of_each_shape, held).jobs;
}

ReadyJobs read_ready_jobs(Store& store, int of_each_shape, const std::optional<HeldAttempts>& held,
                          const std::optional<ReadyStarts>& starts) {
    Statement list{&queries::list_ready_jobs, {of_each_shape}};
    std::ranges::move(held_params(held), std::back_inserter(list.params));
    std::ranges::move(starts_params(starts), std::back_inserter(list.params));
    ReadyJobs ready;
    StartsOfShapes starts_of_shapes;
    for (const Row row : read_with_kept_plan(store.pool(), list)) {
        starts_of_shapes.add(row);
        if (row.is_null("job_id")) continue;
        ready.jobs.push_back(read_wanted_cores(row));
        ready.jobs.back().dataset_state = "ready";
        ready.jobs.back().dataset_id = row.text("dataset_id");
        read_rules(row, ready.jobs.back());
    }
    ready.starts = starts_of_shapes.take();
    return ready;
}

std::vector<QueuedJob> list_forecast_jobs(Store& store, int count) {
    std::vector<QueuedJob> first;
    for (const Row row : read(store.pool(), queries::list_forecast_jobs, {count})) {
        first.push_back(read_wanted_cores(row));
        first.back().dataset_state = "ready";
        read_rules(row, first.back());
        first.back().preemptible = row.flag("preemptible");
    }
    return first;
}

TypicalRuns list_typical_runs(Store& store) {
    TypicalRuns typical;
    for (const Row row : read(store.pool(), queries::list_typical_runs)) {
        typical.now = row.time("now");
        const std::int64_t jobs = row.integer("jobs");
        if (jobs == 0) continue;
        TypicalRun run{.project = {},
                       .cores = row.maybe_small("cores"),
                       .jobs = jobs,
                       .median_s = row.number("median_s")};
        if (!row.is_null("project")) run.project = row.text("project");
        typical.runs.push_back(std::move(run));
    }
    return typical;
}

std::vector<RunningJobRow> list_running_jobs(Store& store,
                                             const std::optional<HeldAttempts>& held) {
    std::vector<RunningJobRow> running;
    const Statement list{&queries::list_running_jobs, held_params(held)};
    for (const Row row : read_with_kept_plan(store.pool(), list))
        running.push_back({.job_id = row.text("job_id"),
                           .project = row.text("project"),
                           .class_rank = row.small("class_rank"),
                           .cores = row.small("cores"),
                           .started_at = row.time("started_at"),
                           .preemptible = row.flag("preemptible"),
                           .ending = row.flag("ending"),
                           .runs_at_most = time_left(row),
                           .eta_s = row.maybe_number("eta_s"),
                           .group = row.text("group_name"),
                           .pool = row.text("pool")});
    return running;
}

ProjectStandings list_standings(Store& store, std::string_view also,
                                const std::optional<HeldAttempts>& held,
                                const std::optional<std::vector<std::string>>& projects) {
    Statement list{&queries::list_shares, {Param::or_null(also), projects}};
    std::ranges::move(held_params(held), std::back_inserter(list.params));
    ProjectStandings standings;
    for (const Row row : read_with_kept_plan(store.pool(), list)) {
        standings.projects.push_back({.name = row.text("name"),
                                      .weight = row.number("weight"),
                                      .usage_core_s = row.number("usage_core_s"),
                                      .cores_max = row.maybe_small("cores_max")});
        standings.now = row.time("now");
    }
    return standings;
}

void fold_project_usage(Store& store, const LeaderTerm& term) {
    write_as_leader(store.pool(), term, {{&queries::fold_project_usage, {}}});
}

std::optional<QueuedJob> find_queued_job(Store& store, std::string_view job_id) {
    const Rows rows = read(store.pool(), queries::find_queued_job, {job_id});
    if (rows.empty()) return std::nullopt;
    QueuedJob job = read_waiting(rows[0]);
    read_rules(rows[0], job);
    return job;
}

int release_due_jobs(Store& store, int count_max, const LeaderTerm& term) {
    // A pass does this each time, and rarely finds one: what writes nothing waits for no disk.
    if (!read(store.pool(), queries::has_due_jobs)[0].flag("found")) return 0;
    return int(
        write_as_leader(store.pool(), term, {{&queries::release_due_jobs, {count_max}}})[0].size());
}

std::vector<PlacementOutcome> commit_placements(Store& store,
                                                const std::vector<Placement>& placements,
                                                const LeaderTerm& term) {
    if (placements.empty()) return {};
    std::vector<PlacementOutcome> outcomes;
    try {
        outcomes = place_together(store, placements, term);
    } catch (const PgError& error) {
        // One collision has undone all of them: place each by itself.
        if (!lost_race(error)) throw;
        outcomes.clear();
        for (const Placement& placement : placements)
            outcomes.push_back(place_alone(store, placement, term));
    }
    for (const PlacementOutcome& outcome : outcomes) {
        if (outcome.attempt) store.announce(outcome.job_id);
    }
    return outcomes;
}

std::vector<StaleQueueRow> drop_stale_queue_rows(Store& store, const std::vector<std::string>& ids,
                                                 const LeaderTerm& term) {
    const std::vector<Rows> answers =
        write_as_leader(store.pool(), term, {{&queries::drop_stale_queue_rows, {ids}}});
    std::vector<StaleQueueRow> dropped;
    for (const Row row : answers[0])
        dropped.push_back({.job_id = row.text("job_id"), .job_state = row.text("state")});
    return dropped;
}

std::optional<int> find_queue_position(Store& store, std::string_view job_id) {
    const std::optional<QueuedJob> job = find_queued_job(store, job_id);
    if (!job) return std::nullopt;
    return position_after(store, job->project, job->pool,
                          {job->class_rank, job->queued_at, job->job_id});
}

int next_queue_position(Store& store, std::string_view project, int class_rank,
                        std::string_view pool) {
    // Ids sort by time: what is submitted next is behind all of its class.
    return position_after(store, project, pool, {class_rank, "infinity", ""});
}

}    // namespace slipway::store
