// The planner is called again and again, with the clock set to the next end of a job. That it is
// the planner itself is the point: reservations, backfill, preemption, quotas and groups act in the
// simulation as they do in the service, and a new rule needs no second version here.
//
// A pass is given what the store would give it (docs/decisions/0017): of each shape of each project
// as many jobs as there are cores. So a pass costs what the machine is large, and a simulation that
// times the number of ends. Of jobs that end in the same second one pass is made. Tried: a formula,
// core-seconds ahead over cores, which is off by hours where jobs of eight cores wait for the last
// of eight to end.
#include "scheduler/placement/simulation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "scheduler/placement/placement.h"

namespace slipway {

namespace {

constexpr double usage_half_life_s = 86400;

struct Run {
    WaitingJob job;    // as it would wait again
    Instant started_at{};
    Instant ends_at{};
    RunEstimate estimate;
    bool gives_way = false;
};

struct World {
    Snapshot now;
    std::map<std::string, Run> runs;
    std::map<std::string, RunEstimate> left;    // of waiting jobs
    RunBasis basis = RunBasis::known;
    Simulation result;
};

std::chrono::seconds at_least_a_second(std::chrono::seconds time) {
    return std::max(time, std::chrono::seconds{1});
}

RunEstimate estimate_of(const std::string& job_id, const std::map<std::string, RunEstimate>& runs) {
    const auto found = runs.find(job_id);
    return found == runs.end() ? RunEstimate{.lasts = default_run} : found->second;
}

/// What a running job would be, did it wait again.
WaitingJob waiting_again(const RunningJob& running) {
    return {.job_id = running.job_id,
            .class_rank = running.class_rank,
            .queued_at = running.started_at,
            .cores = running.cores,
            .core_id = {},
            .due_at = {},
            .project = running.project,
            .group = running.group,
            .pool = running.pool};
}

World world_of(Snapshot snapshot, const std::map<std::string, RunEstimate>& runs) {
    World world{.now = std::move(snapshot), .runs = {}, .left = {}, .result = {}};
    for (const RunningJob& running : world.now.running) {
        const RunEstimate estimate = estimate_of(running.job_id, runs);
        world.runs[running.job_id] = {
            .job = waiting_again(running),
            .started_at = running.started_at,
            .ends_at = world.now.now + at_least_a_second(estimate.lasts),
            .estimate = estimate,
            // Who is ending already does not come back: nobody knows why it ends.
            .gives_way = false};
    }
    for (const WaitingJob& job : world.now.queue)
        world.left[job.job_id] = estimate_of(job.job_id, runs);
    return world;
}

/// The jobs that a pass looks at, from a queue in any order: as the store hands them in.
std::vector<WaitingJob> heads(const std::vector<WaitingJob>& queue, std::size_t of_each_shape) {
    using ProjectShape =
        std::tuple<std::string_view, std::string_view, std::string_view, int, int, std::int64_t>;
    std::map<ProjectShape, std::size_t> seen;
    std::vector<WaitingJob> heads;
    for (const WaitingJob& job : queue) {
        const ProjectShape shape{job.project,
                                 job.group,
                                 job.pool,
                                 job.cores,
                                 job.core_id.value_or(0),
                                 job.memory_bytes.value_or(0)};
        if (seen[shape]++ < of_each_shape) heads.push_back(job);
    }
    return heads;
}

void free_cores(World& world, const std::string& job_id) {
    for (CoreSlot& core : world.now.cores) {
        if (core.held_by != job_id) continue;
        core.held_by.clear();
        core.held_memory_bytes.reset();
    }
    std::erase_if(world.now.running,
                  [&](const RunningJob& running) { return running.job_id == job_id; });
}

void start(World& world, const PlacedJob& placed) {
    std::vector<WaitingJob>& queue = world.now.queue;
    const auto found = std::ranges::find(queue, placed.job_id, &WaitingJob::job_id);
    const WaitingJob job = *found;
    queue.erase(found);
    const auto is_placed_on = [&](const std::string& host) {
        return host == placed.host || std::ranges::count(placed.other_hosts, host) > 0;
    };
    for (CoreSlot& core : world.now.cores) {
        if (!is_placed_on(core.host) || std::ranges::count(placed.cores, core.core) == 0) continue;
        core.held_by = job.job_id;
        core.held_memory_bytes = job.memory_bytes;
    }
    const RunEstimate estimate = world.left.at(job.job_id);
    RunningJob running{.job_id = job.job_id,
                       .project = job.project,
                       .class_rank = job.class_rank,
                       .cores = job.cores,
                       .started_at = world.now.now,
                       .preemptible = job.preemptible,
                       .ending = false,
                       .ends_by = {},
                       .group = job.group,
                       .pool = job.pool};
    if (job.runs_at_most) running.ends_by = world.now.now + *job.runs_at_most;
    world.now.running.push_back(std::move(running));
    world.runs[job.job_id] = {.job = job,
                              .started_at = world.now.now,
                              .ends_at = world.now.now + at_least_a_second(estimate.lasts),
                              .estimate = estimate};
    world.result.starts.try_emplace(
        job.job_id,
        SimulatedStart{
            .at = world.now.now, .host = placed.host, .cores = placed.cores, .basis = world.basis});
}

/// It saves, and then waits for the rest of its run.
void give_way(World& world, const std::string& job_id) {
    const auto found = world.runs.find(job_id);
    if (found == world.runs.end() || found->second.gives_way) return;
    Run& run = found->second;
    const Instant saved_at = world.now.now + assumed_save;
    if (run.ends_at > saved_at) {
        run.estimate.lasts =
            std::chrono::duration_cast<std::chrono::seconds>(run.ends_at - saved_at);
        run.ends_at = saved_at;
        run.gives_way = true;
    }
    const auto running = std::ranges::find(world.now.running, job_id, &RunningJob::job_id);
    if (running != world.now.running.end()) running->ending = true;
}

void plan(World& world) {
    Snapshot pass = world.now;
    pass.queue = heads(world.now.queue, std::max<std::size_t>(1, world.now.cores.size()));
    const Plan made = make_plan(pass);
    for (const PreemptedJob& preempted : made.preempt)
        give_way(world, preempted.job_id);
    for (const PlacedJob& placed : made.start)
        start(world, placed);
    ++world.result.passes;
}

/// Usage until then, as the store would count it.
void pass_time(World& world, Instant then) {
    const double elapsed = std::chrono::duration<double>(then - world.now.now).count();
    std::map<std::string_view, int> held;
    for (const RunningJob& running : world.now.running)
        held[running.project] += running.cores;
    for (ProjectShare& project : world.now.projects) {
        project.usage_core_s *= std::exp2(-elapsed / usage_half_life_s);
        project.usage_core_s += elapsed * held[project.name];
    }
    world.now.now = then;
}

/// Ends what ends next; false when nothing runs.
bool end_next(World& world) {
    if (world.runs.empty()) return false;
    const auto next = std::ranges::min_element(world.runs, {},
                                               [](const auto& run) { return run.second.ends_at; });
    const Instant then = std::max(next->second.ends_at, world.now.now);
    pass_time(world, then);
    for (auto run = world.runs.begin(); run != world.runs.end();) {
        if (run->second.ends_at >= then + std::chrono::seconds{1}) {
            ++run;
            continue;
        }
        free_cores(world, run->first);
        world.basis = std::max(world.basis, run->second.estimate.basis);
        if (run->second.gives_way) {
            world.left[run->first] = run->second.estimate;
            std::vector<WaitingJob>& queue = world.now.queue;
            queue.insert(std::ranges::upper_bound(queue, run->second.job, is_ahead),
                         run->second.job);
        }
        run = world.runs.erase(run);
    }
    return true;
}

/// A project that waits and has no row has the defaults; its usage counts from now on.
void add_missing_projects(Snapshot& snapshot) {
    std::map<std::string_view, bool> known;
    for (const ProjectShare& project : snapshot.projects)
        known[project.name] = true;
    std::vector<ProjectShare> missing;
    for (const WaitingJob& job : snapshot.queue)
        if (!std::exchange(known[job.project], true)) missing.push_back({.name = job.project});
    snapshot.projects.insert(snapshot.projects.end(), missing.begin(), missing.end());
}

}    // namespace

Simulation simulate(Snapshot snapshot, const std::map<std::string, RunEstimate>& runs,
                    const SimulationBounds& bounds) {
    add_missing_projects(snapshot);
    const Instant end = snapshot.now + bounds.horizon;
    std::ranges::sort(snapshot.queue, is_ahead);
    World world = world_of(std::move(snapshot), runs);
    bool bounded = false;
    while (!bounded) {
        plan(world);
        if (world.now.queue.empty() || !end_next(world)) break;
        bounded = world.result.passes >= bounds.passes_max || world.now.now > end || bounds.stop();
    }
    world.result.complete = !bounded;
    world.result.until = world.now.now;
    return std::move(world.result);
}

}    // namespace slipway
