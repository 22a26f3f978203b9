#include "scheduler/sweeps/leases.h"

#include <fmt/format.h>

#include "scheduler/sweeps/sweep_run.h"

namespace slipway::sweeps {

namespace {

bool still_runs(const SweepRun& run, std::int64_t trial) {
    return run.search.trials()[std::size_t(trial)].state == search::TrialState::running;
}

std::vector<std::int64_t> expired_trials(const SweepRun& run, Instant now) {
    std::vector<std::int64_t> expired;
    for (const auto& [trial, lease] : run.leases) {
        const std::chrono::duration<double> silent = now - lease.heard_at;
        if (lease.lease_s > 0 && !lease.is_free && still_runs(run, trial) &&
            silent.count() > lease.lease_s)
            expired.push_back(trial);
    }
    return expired;
}

}    // namespace

void hand_out(SweepRun& run, StepLog& log, std::int64_t trial, double lease_s, Instant now) {
    take_lease(run, LeaseEvent{.trial = trial, .lease_s = lease_s}, now);
    log.events.push_back({.event = LeaseEvent{.trial = trial, .lease_s = lease_s}});
    log.changed[trial] = true;
}

void set_free(SweepRun& run, StepLog& log, std::int64_t trial) {
    take_lease(run, LeaseEvent{.trial = trial, .is_free = true}, {});
    log.events.push_back({.event = LeaseEvent{.trial = trial, .is_free = true}});
    log.changed[trial] = true;
}

void expire_leases(SweepRun& run, StepLog& log, Instant now) {
    for (const std::int64_t trial : expired_trials(run, now)) {
        const TrialLease& lease = run.leases.at(trial);
        if (lease.expired + 1 < expired_max) {
            set_free(run, log, trial);
            continue;
        }
        take(run, log, search::EndEvent{.trial = trial, .failed = true},
             fmt::format("its lease of {} s has expired {} times", lease.lease_s, expired_max));
    }
}

std::vector<std::int64_t> free_trials(const SweepRun& run) {
    std::vector<std::int64_t> found;
    for (const auto& [trial, lease] : run.leases)
        if (lease.is_free && still_runs(run, trial)) found.push_back(trial);
    return found;
}

void take_lease(SweepRun& run, const LeaseEvent& event, Instant at) {
    TrialLease& lease = run.leases[event.trial];
    // Set free while it had a lease: the lease has run out.
    if (event.is_free && !lease.is_free && lease.lease_s > 0) ++lease.expired;
    lease.is_free = event.is_free;
    lease.lease_s = event.lease_s;
    lease.heard_at = at;
}

void note_report(TrialLeases& leases, std::int64_t trial, Instant now) {
    const auto found = leases.find(trial);
    if (found != leases.end()) found->second.heard_at = now;
}

}    // namespace slipway::sweeps
