#include "scheduler/upkeep/tasks.h"

#include <algorithm>
#include <tuple>

#include "api/base/id.h"
#include "api/base/log.h"
#include "scheduler/store/attempts.h"

namespace slipway {

namespace {

constexpr int released_at_once = 2000;
constexpr std::size_t fence_bytes = 16;

/// What a pass looks at. Of each shape no more jobs can start than there are cores.
struct Snapshot {
    std::vector<CoreSlot> cores;
    std::vector<store::QueuedJob> ready;
};

Snapshot look_at(store::Store& store, std::chrono::milliseconds host_silence_max) {
    Snapshot snapshot{.cores = to_core_slots(store::list_cores(store, host_silence_max)),
                      .ready = {}};
    snapshot.ready = store::list_ready_jobs(store, std::max(1, int(snapshot.cores.size())));
    return snapshot;
}

bool goes_before(const store::QueuedJob& a, const store::QueuedJob& b) {
    return std::tie(a.class_rank, a.queued_at, a.job_id) <
           std::tie(b.class_rank, b.queued_at, b.job_id);
}

}    // namespace

std::vector<WaitingJob> to_waiting_jobs(const std::vector<store::QueuedJob>& queue) {
    std::vector<WaitingJob> waiting;
    waiting.reserve(queue.size());
    for (const store::QueuedJob& job : queue) {
        waiting.push_back({.job_id = job.job_id,
                           .cores = job.cores,
                           .core_id = job.core_id,
                           .memory_bytes = job.memory_bytes,
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
                         .held_by = core.job_id,
                         .host_memory_bytes = core.job_memory_bytes,
                         .held_memory_bytes = core.memory_bytes});
    }
    return slots;
}

ScheduleCounts schedule(store::Store& store, std::chrono::milliseconds lease,
                        std::chrono::milliseconds host_silence_max, const store::LeaderTerm& term) {
    ScheduleCounts counts;
    counts.more_are_due =
        store::release_due_jobs(store, released_at_once, term) == released_at_once;
    const Snapshot snapshot = look_at(store, host_silence_max);
    const PlacementPlan plan = plan_placement(to_waiting_jobs(snapshot.ready), snapshot.cores);
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
    for (const store::PlacementOutcome& outcome : store::commit_placements(store, placements, term))
        ++(outcome.attempt ? counts.placed : counts.lost_races);
    return counts;
}

std::int64_t rescue_lost_attempts(store::Store& store, const std::string& own_host,
                                  std::chrono::milliseconds lease, const store::LeaderTerm& term) {
    const auto connected = store.connected_for();
    if (!connected || *connected < lease) return 0;
    store::RescueRule rule{.own_host = own_host};
    if (*connected >= 2 * lease) rule.own_grace = lease;
    const auto rescued = store::rescue_expired(store, rule, term);
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
    const std::optional<store::QueuedJob> job = store::find_queued_job(store, job_id);
    if (!job) return std::nullopt;
    Snapshot snapshot = look_at(store, host_silence_max);
    // A job that is held, or behind all that the pass looks at, takes its own place among them.
    if (std::ranges::find(snapshot.ready, job_id, &store::QueuedJob::job_id) ==
        snapshot.ready.end()) {
        snapshot.ready.insert(std::ranges::upper_bound(snapshot.ready, *job, goes_before), *job);
    }
    const PlacementPlan plan = plan_placement(to_waiting_jobs(snapshot.ready), snapshot.cores);
    const auto found = std::ranges::find(plan.waiting, job_id, &WaitReason::job_id);
    if (found == plan.waiting.end()) return std::nullopt;
    return *found;
}

}    // namespace slipway
