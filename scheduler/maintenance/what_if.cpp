// Two runs of one simulation from one snapshot, and what differs. Both see the same estimates, so
// that their errors mostly cancel out: a delay is more certain than either of the times.
#include "scheduler/maintenance/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "scheduler/maintenance/run_times.h"
#include "scheduler/maintenance/snapshot.h"

namespace slipway {

namespace {

void add_hosts(Snapshot& snapshot, int hosts, int cores, const std::string& pool) {
    std::int64_t memory_bytes = 0;
    for (const CoreSlot& core : snapshot.cores)
        memory_bytes = std::max(memory_bytes, core.host_memory_bytes);
    for (int host = 1; host <= hosts; ++host)
        for (int core = 1; core <= cores; ++core)
            snapshot.cores.push_back({.host = fmt::format("new-host-{}", host),
                                      .pool = pool,
                                      .core = core,
                                      .held_by = {},
                                      .host_memory_bytes = memory_bytes});
}

/// As the database counts it (counted_memory_bytes): rounded up by at most a quarter.
std::optional<std::int64_t> counted_memory(std::optional<std::int64_t> asked) {
    if (!asked) return std::nullopt;
    constexpr std::int64_t least_step = 1 << 20;
    const int bits = std::bit_width(std::uint64_t(*asked));
    const std::int64_t step = std::max(least_step, std::int64_t{1} << std::max(bits - 3, 0));
    return (*asked + step - 1) / step * step;
}

/// The newest submission sets the limit of its group; one that names none takes the present one.
void join_group(Snapshot& snapshot, store::QueuedJob& job) {
    if (job.group.empty()) return;
    for (WaitingJob& one : snapshot.queue) {
        if (one.project != job.project || one.group != job.group) continue;
        if (!job.group_limit) job.group_limit = one.group_limit;
        one.group_limit = job.group_limit;
    }
}

/// Of a job that waits, in the snapshot that it is part of.
WaitingJob& place_of(Snapshot& snapshot, const store::QueuedJob& job) {
    const auto found = std::ranges::find(snapshot.queue, job.job_id, &WaitingJob::job_id);
    if (found != snapshot.queue.end()) return *found;
    snapshot.queue.push_back(to_waiting_job(job));
    return snapshot.queue.back();
}

std::optional<SimulatedStart> start_of(const Simulation& simulation, const std::string& job_id) {
    const auto found = simulation.starts.find(job_id);
    if (found == simulation.starts.end()) return std::nullopt;
    return found->second;
}

/// Later is positive; what does not start within the bounds starts at their end.
std::chrono::microseconds delay_of(const ChangedStart& changed, Instant until) {
    return changed.after.value_or(until) - changed.before.value_or(until);
}

void compare(const std::vector<WaitingJob>& queue, const std::string& about,
             const Simulation& before, const Simulation& after, WhatIfAnswer& answer) {
    constexpr std::chrono::seconds same{1};
    const Instant until = std::max(before.until, after.until);
    for (const WaitingJob& job : queue) {
        if (job.job_id == about) continue;
        ChangedStart changed{
            .job_id = job.job_id, .project = job.project, .before = {}, .after = {}};
        if (const auto start = start_of(before, job.job_id)) changed.before = start->at;
        if (const auto start = start_of(after, job.job_id)) changed.after = start->at;
        const auto delay = delay_of(changed, until);
        if (delay >= same) answer.later.push_back(changed);
        if (delay <= -same) answer.sooner.push_back(changed);
    }
    const auto by_delay = [until](const ChangedStart& a, const ChangedStart& b) {
        return delay_of(a, until) > delay_of(b, until);
    };
    std::ranges::stable_sort(answer.later, by_delay);
    std::ranges::stable_sort(answer.sooner,
                             [&](const auto& a, const auto& b) { return by_delay(b, a); });
}

}    // namespace

WhatIfAnswer what_if(store::Store& store, const Clock& clock, const WhatIf& change,
                     std::chrono::milliseconds host_silence_max) {
    std::optional<store::QueuedJob> about = change.new_job;
    if (!change.job_id.empty()) {
        about = store::find_queued_job(store, change.job_id);
        if (!about)
            throw Error{ErrorCode::not_found,
                        fmt::format("job {} is not in the queue", change.job_id)};
    }
    ForecastInput input =
        read_forecast_input(store, host_silence_max, about ? about->project : std::string());
    WhatIfAnswer answer{.now = input.snapshot.now};
    std::string id;
    if (!change.job_id.empty()) {
        id = about->job_id;
        place_of(input.snapshot, *about);
        input.runs.try_emplace(id, estimate_run(input.typical, *about));
    }
    answer.jobs = input.snapshot.queue.size();
    const Simulation before = simulate(input.snapshot, input.runs, forecast_bounds(clock));

    Snapshot changed = input.snapshot;
    add_hosts(changed, change.more_hosts, change.cores_per_host, change.pool);
    if (change.new_job) {
        id = about->job_id;
        about->queued_at = changed.now;
        join_group(changed, *about);
        about->memory_bytes = counted_memory(about->memory_bytes);
        changed.queue.push_back(to_waiting_job(*about));
        input.runs[id] = estimate_run(input.typical, *about);
    }
    if (about && change.class_rank) place_of(changed, *about).class_rank = *change.class_rank;
    const Simulation after = simulate(changed, input.runs, forecast_bounds(clock));
    if (about) {
        answer.without = start_of(before, id);
        answer.with = start_of(after, id);
        answer.waits = explain(changed, place_of(changed, *about));
    }
    compare(input.snapshot.queue, id, before, after, answer);
    answer.complete = before.complete && after.complete;
    answer.until = after.until;
    return answer;
}

}    // namespace slipway
