#include "scheduler/maintenance/snapshot.h"

#include <algorithm>
#include <iterator>

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
            .dataset_state = job.dataset_state};
}

CoreSlot to_core_slot(const store::Core& core) {
    return {.host = core.host,
            .core = core.core,
            .drained = core.drained,
            .alive = core.alive,
            .held_by = core.job_id,
            .host_memory_bytes = core.job_memory_bytes,
            .held_memory_bytes = core.memory_bytes};
}

Snapshot read_snapshot(store::Store& store, std::chrono::milliseconds host_silence_max) {
    Snapshot snapshot;
    std::ranges::transform(store::list_cores(store, host_silence_max),
                           std::back_inserter(snapshot.cores), to_core_slot);
    const int of_each_shape = std::max(1, int(snapshot.cores.size()));
    std::ranges::transform(store::list_ready_jobs(store, of_each_shape),
                           std::back_inserter(snapshot.queue), to_waiting_job);
    return snapshot;
}

}    // namespace slipway
