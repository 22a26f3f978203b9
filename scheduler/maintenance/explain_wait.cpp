#include "scheduler/maintenance/explain_wait.h"

#include <algorithm>
#include <set>

#include "scheduler/maintenance/snapshot.h"

namespace slipway {

std::optional<WaitReason> explain_wait(store::Store& store, const std::string& job_id,
                                       std::chrono::milliseconds host_silence_max) {
    const std::optional<store::QueuedJob> job = store::find_queued_job(store, job_id);
    if (!job) return std::nullopt;
    return explain(read_snapshot(store, host_silence_max, job->project), to_waiting_job(*job));
}

DecisionCounts count_decisions(store::Store& store, const std::vector<std::string>& projects,
                               std::chrono::milliseconds host_silence_max) {
    const Snapshot snapshot = read_snapshot(store, host_silence_max);
    std::set<std::string_view> counted;
    for (const WaitingJob& job : snapshot.queue)
        if (projects.empty() || std::ranges::find(projects, job.project) != projects.end())
            counted.insert(job.job_id);
    DecisionCounts counts;
    const Plan plan = make_plan(snapshot);
    for (const PlacedJob& placed : plan.start)
        counts.starting += std::int64_t(counted.count(placed.job_id));
    for (const WaitReason& reason : plan.waiting)
        if (counted.contains(reason.job_id)) ++counts.waiting[reason.code];
    return counts;
}

}    // namespace slipway
