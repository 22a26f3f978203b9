#include "scheduler/upkeep/tasks.h"

#include <algorithm>

#include "api/base/id.h"
#include "api/base/log.h"
#include "scheduler/store/attempts.h"

namespace slipway {

namespace {

constexpr int queue_rows_max = 1000;
constexpr std::size_t fence_bytes = 16;

PlacementPlan plan_now(store::Store& store, std::chrono::milliseconds host_silence_max) {
    return plan_placement(to_waiting_jobs(store::list_queue(store, queue_rows_max)),
                          to_core_slots(store::list_cores(store, host_silence_max)));
}

}    // namespace

std::vector<WaitingJob> to_waiting_jobs(const std::vector<store::QueuedJob>& queue) {
    std::vector<WaitingJob> waiting;
    waiting.reserve(queue.size());
    for (const store::QueuedJob& job : queue) {
        waiting.push_back({.job_id = job.job_id,
                           .cores = job.cores,
                           .core_id = job.core_id,
                           .due = job.due,
                           .due_at = job.not_before ? to_rfc3339(*job.not_before) : "",
                           .dataset_state = job.dataset_state});
    }
    return waiting;
}

std::vector<CoreSlot> to_core_slots(const std::vector<store::Core>& cores) {
    std::vector<CoreSlot> slots;
    slots.reserve(cores.size());
    for (const store::Core& core : cores) {
        slots.push_back({.host = core.host,
                         .core = core.core,
                         .drained = core.drained,
                         .alive = core.alive,
                         .held_by = core.job_id});
    }
    return slots;
}

ScheduleCounts schedule(store::Store& store, std::chrono::milliseconds lease,
                        std::chrono::milliseconds host_silence_max) {
    const PlacementPlan plan = plan_now(store, host_silence_max);
    ScheduleCounts counts;
    counts.waiting = std::int64_t(plan.waiting.size());
    if (plan.placed.empty()) return counts;
    std::vector<store::Placement> placements;
    for (const PlacedJob& placed : plan.placed) {
        placements.push_back({.job_id = placed.job_id,
                              .host = placed.host,
                              .cores = placed.cores,
                              .token = random_hex(fence_bytes),
                              .lease = lease});
    }
    for (const store::PlacementOutcome& outcome : store::commit_placements(store, placements))
        ++(outcome.attempt ? counts.placed : counts.lost_races);
    return counts;
}

std::int64_t rescue_lost_attempts(store::Store& store, const std::string& own_host,
                                  std::chrono::milliseconds lease) {
    const auto connected = store.connected_for();
    if (!connected || *connected < lease) return 0;
    const auto rescued = store::rescue_expired(store, own_host, std::chrono::milliseconds{0});
    for (const store::Rescued& each : rescued) {
        log_warn("an attempt was taken from a host that is gone",
                 {{"job_id", each.key.job_id},
                  {"attempt", each.key.attempt},
                  {"host", each.host},
                  {"job_state", to_string(each.job_state)}});
    }
    return std::int64_t(rescued.size());
}

std::optional<WaitReason> explain_wait(store::Store& store, const std::string& job_id,
                                       std::chrono::milliseconds host_silence_max) {
    const PlacementPlan plan = plan_now(store, host_silence_max);
    const auto found = std::ranges::find(plan.waiting, job_id, &WaitReason::job_id);
    if (found == plan.waiting.end()) return std::nullopt;
    return *found;
}

}    // namespace slipway
