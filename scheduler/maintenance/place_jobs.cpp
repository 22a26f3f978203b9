#include "scheduler/maintenance/place_jobs.h"

#include <fmt/format.h>

#include <vector>

#include "api/base/id.h"
#include "scheduler/maintenance/snapshot.h"
#include "scheduler/store/jobs.h"

namespace slipway {

namespace {

constexpr int released_at_once = 2000;
constexpr std::size_t fence_bytes = 16;

}    // namespace

PlaceCounts place_jobs(store::Store& store, std::chrono::milliseconds lease,
                       std::chrono::milliseconds host_silence_max, const store::LeaderTerm& term) {
    PlaceCounts counts;
    counts.more_are_due =
        store::release_due_jobs(store, released_at_once, term) == released_at_once;
    const Plan plan = make_plan(read_snapshot(store, host_silence_max));
    counts.waiting = std::int64_t(plan.waiting.size());
    for (const PreemptedJob& one : plan.preempt) {
        const store::Reason reason{
            .code = "preempted",
            .message = fmt::format("job {} of a higher class needs the cores", one.for_job)};
        if (store::preempt_job(store, one.job_id, reason, term)) ++counts.preempted;
    }
    if (plan.start.empty()) return counts;
    std::vector<store::Placement> placements;
    for (const PlacedJob& placed : plan.start) {
        placements.push_back({.job_id = placed.job_id,
                              .members = {{.host = placed.host, .cores = placed.cores}},
                              .fence = random_hex(fence_bytes),
                              .lease = lease});
    }
    for (const store::PlacementOutcome& outcome : store::commit_placements(store, placements, term))
        ++(outcome.attempt ? counts.placed : counts.lost_races);
    return counts;
}

}    // namespace slipway
