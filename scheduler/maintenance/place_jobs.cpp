#include "scheduler/maintenance/place_jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "api/base/id.h"
#include "api/base/log.h"
#include "scheduler/maintenance/snapshot.h"
#include "scheduler/store/jobs.h"

namespace slipway {

namespace {

constexpr int released_at_once = 2000;
constexpr std::size_t fence_bytes = 16;

/// "it is 12.3 s old; core 3 of host a was free"
store::DecisionReason why_it_starts(const PlacedJob& placed, const Snapshot& snapshot) {
    double waited_s = 0;
    for (const WaitingJob& job : snapshot.queue)
        if (job.job_id == placed.job_id)
            waited_s = std::chrono::duration<double>(snapshot.now - job.queued_at).count();
    const bool one = placed.cores.size() == 1;
    std::string message =
        placed.other_hosts.empty()
            ? fmt::format("it is {:.1f} s old; core{} {} of host {} {} free",
                          std::max(waited_s, 0.0), one ? "" : "s", fmt::join(placed.cores, ", "),
                          placed.host, one ? "was" : "were")
            : fmt::format("it is {:.1f} s old; hosts {}, {} were free", std::max(waited_s, 0.0),
                          placed.host, fmt::join(placed.other_hosts, ", "));
    if (placed.ahead_of.empty()) return {.code = "free_cores", .message = std::move(message)};
    message += fmt::format(", and its limits end it before job {} can start", placed.ahead_of);
    return {.code = "backfill", .message = std::move(message), .related_job = placed.ahead_of};
}

std::vector<store::PlacedMember> members_of(const PlacedJob& placed) {
    std::vector<store::PlacedMember> members{{.host = placed.host, .cores = placed.cores}};
    for (const std::string& host : placed.other_hosts)
        members.push_back({.host = host, .cores = placed.cores});
    return members;
}

void remember(WarmMemory& warm, const store::PlacementOutcome& outcome, const Plan& plan,
              const Snapshot& snapshot) {
    const auto placed = std::ranges::find(plan.start, outcome.job_id, &PlacedJob::job_id);
    const auto job = std::ranges::find(snapshot.queue, outcome.job_id, &WaitingJob::job_id);
    if (placed == plan.start.end() || job == snapshot.queue.end()) return;
    warm.placed(*job, placed->host, snapshot.now);
}

void drop_stale(store::Store& store, const std::vector<std::string>& refused,
                const store::LeaderTerm& term) {
    for (const store::StaleQueueRow& row : store::drop_stale_queue_rows(store, refused, term))
        log_error("a queue row of a job that is not queued was removed",
                  {{"job_id", row.job_id},
                   {"job_state", row.job_state.empty() ? "deleted" : row.job_state}});
}

/// Asks who gives way; what was asked for, as decisions.
std::vector<store::NewDecision> preempt(store::Store& store, const std::vector<PreemptedJob>& jobs,
                                        const store::LeaderTerm& term) {
    std::vector<store::NewDecision> decisions;
    for (const PreemptedJob& one : jobs) {
        const store::Reason reason{
            .code = "preempted",
            .message = fmt::format("job {} of a higher class needs the cores", one.for_job)};
        if (!store::preempt_job(store, one.job_id, reason, term)) continue;
        decisions.push_back(
            {.job_id = one.job_id,
             .kind = "preempt",
             .reason = {
                 .code = reason.code, .message = reason.message, .related_job = one.for_job}});
    }
    return decisions;
}

}    // namespace

PlaceCounts place_jobs(store::Store& store, std::chrono::milliseconds lease,
                       std::chrono::milliseconds host_silence_max, const store::LeaderTerm& term,
                       PlaceMemory* memory) {
    PlaceCounts counts;
    counts.more_are_due =
        store::release_due_jobs(store, released_at_once, term) == released_at_once;
    Snapshot snapshot =
        read_snapshot(store, host_silence_max, {}, memory == nullptr ? nullptr : &memory->ready);
    if (memory != nullptr) {
        memory->refused.filter(snapshot.queue, snapshot.now);
        snapshot.warm = memory->warm.places_of(snapshot.queue, snapshot.now);
    }
    const Plan plan = make_plan(snapshot);
    counts.waiting = std::int64_t(plan.waiting.size());
    std::vector<store::NewDecision> decisions = preempt(store, plan.preempt, term);
    counts.preempted = std::int64_t(decisions.size());
    std::vector<store::Placement> placements;
    for (const PlacedJob& placed : plan.start) {
        placements.push_back({.job_id = placed.job_id,
                              .members = members_of(placed),
                              .fence = random_hex(fence_bytes),
                              .why = why_it_starts(placed, snapshot),
                              .lease = lease});
    }
    std::vector<std::string> refused;
    for (const store::PlacementOutcome& outcome :
         store::commit_placements(store, placements, term)) {
        ++(outcome.attempt ? counts.placed : counts.lost_races);
        if (!outcome.attempt) refused.push_back(outcome.job_id);
        if (memory == nullptr) continue;
        if (outcome.attempt) {
            remember(memory->warm, outcome, plan, snapshot);
            memory->refused.placed(outcome.job_id);
        } else if (memory->refused.refused(outcome.job_id, snapshot.now)) {
            log_warn("a job that cannot be placed is passed over", {{"job_id", outcome.job_id}});
        }
    }
    if (!refused.empty()) drop_stale(store, refused, term);
    if (memory != nullptr) {
        std::vector<store::NewDecision> waits = memory->waits.to_record(plan.waiting, snapshot.now);
        std::ranges::move(waits, std::back_inserter(decisions));
    }
    store::record_decisions(store, decisions, term);
    return counts;
}

}    // namespace slipway
