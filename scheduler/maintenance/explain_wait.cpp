#include "scheduler/maintenance/explain_wait.h"

#include "scheduler/maintenance/snapshot.h"

namespace slipway {

std::optional<WaitReason> explain_wait(store::Store& store, const std::string& job_id,
                                       std::chrono::milliseconds host_silence_max) {
    const std::optional<store::QueuedJob> job = store::find_queued_job(store, job_id);
    if (!job) return std::nullopt;
    return explain(read_snapshot(store, host_silence_max), to_waiting_job(*job));
}

}    // namespace slipway
