#include "scheduler/maintenance/snapshot.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "scheduler/store/avoided_hosts.h"

namespace slipway {

WaitingJob to_waiting_job(const store::QueuedJob& job) {
    return {.job_id = job.job_id,
            .class_rank = job.class_rank,
            .queued_at = job.queued_at,
            .cores = job.cores,
            .core_id = job.core_id,
            .memory_bytes = job.memory_bytes,
            .due = job.due,
            .due_at = job.not_before ? to_rfc3339(*job.not_before) : "",
            .dataset_state = job.dataset_state,
            .project = job.project,
            .runs_at_most = job.runs_at_most,
            .group = job.group,
            .group_limit = job.group_limit,
            .preemptible = job.preemptible,
            .dataset_id = job.dataset_id,
            .pool = job.pool,
            .avoided_hosts = store::avoided_hosts(job.crash_key)};
}

RunningJob to_running_job(const store::RunningJobRow& job) {
    std::optional<Instant> ends_by;
    if (job.runs_at_most) ends_by = job.started_at + *job.runs_at_most;
    return {.job_id = job.job_id,
            .project = job.project,
            .class_rank = job.class_rank,
            .cores = job.cores,
            .started_at = job.started_at,
            .preemptible = job.preemptible,
            .ending = job.ending,
            .ends_by = ends_by,
            .group = job.group,
            .pool = job.pool};
}

ProjectShare to_share(const store::ProjectStanding& standing) {
    return {.name = standing.name,
            .weight = standing.weight,
            .usage_core_s = standing.usage_core_s,
            .cores_max = standing.cores_max};
}

CoreSlot to_core_slot(const store::Core& core) {
    return {.host = core.host,
            .pool = core.pool,
            .core = core.core,
            .drained = core.drained,
            .core_drain_reason = core.drained ? core.drain_reason : "",
            .host_drained = core.host_drain.has_value(),
            .drain_reason = core.host_drain ? core.host_drain->reason : "",
            .alive = core.alive,
            .held_by = core.job_id,
            .host_memory_bytes = core.job_memory_bytes,
            .held_memory_bytes = core.memory_bytes};
}

Snapshot read_snapshot(store::Store& store, std::chrono::milliseconds host_silence_max,
                       std::string_view also, ReadyMemory* memory) {
    Snapshot snapshot;
    store::HeldAttempts held;
    for (const store::Core& core : store::list_cores(store, host_silence_max)) {
        snapshot.cores.push_back(to_core_slot(core));
        if (core.job_id.empty()) continue;
        held.job_ids.push_back(core.job_id);
        held.attempts.push_back(core.attempt);
    }
    const int of_each_shape = std::max(1, int(snapshot.cores.size()));
    const std::vector<store::QueuedJob> ready =
        memory == nullptr ? store::list_ready_jobs(store, of_each_shape, held)
                          : read_ready_jobs(store, of_each_shape, held, *memory);
    std::ranges::transform(ready, std::back_inserter(snapshot.queue), to_waiting_job);
    if (snapshot.queue.empty() && also.empty()) return snapshot;
    std::ranges::transform(store::list_running_jobs(store, held),
                           std::back_inserter(snapshot.running), to_running_job);
    std::set<std::string> projects;
    for (const WaitingJob& job : snapshot.queue)
        projects.insert(job.project);
    const store::ProjectStandings standings =
        store::list_standings(store, also, held, std::vector(projects.begin(), projects.end()));
    std::ranges::transform(standings.projects, std::back_inserter(snapshot.projects), to_share);
    if (standings.now) snapshot.now = *standings.now;
    return snapshot;
}

}    // namespace slipway
