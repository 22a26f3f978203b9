#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "api/base/clock.h"

// Trials that run elsewhere: which are leased, and until when. All of it follows from the log and
// from when its lines were written.
namespace slipway::sweeps {

struct SweepRun;
struct StepLog;
struct LeaseEvent;

/// A running trial that is free or has a lease; others have been handed out for good.
struct TrialLease {
    bool is_free = false;        ///< no worker holds it: the next `suggest` returns it
    double lease_s = 0;          ///< from `heard_at` to when it is free again; 0: never
    Instant heard_at{};          ///< it was handed out, renewed, or reported a value
    std::int64_t expired = 0;    ///< how often the lease has run out
};
using TrialLeases = std::map<std::int64_t, TrialLease>;

/// How often a trial is handed out again; then it has failed.
constexpr std::int64_t expired_max = 3;

/// A worker holds the trial from now on, or its lease is renewed. lease_s 0: no lease.
void hand_out(SweepRun& run, StepLog& log, std::int64_t trial, double lease_s, Instant now);

/// No worker holds the trial, which runs.
void set_free(SweepRun& run, StepLog& log, std::int64_t trial);

/// Sets the trials free whose leases have run out; those that have done so `expired_max` times have
/// failed.
void expire_leases(SweepRun& run, StepLog& log, Instant now);

/// What a line of the log, which was written at `at`, says.
void take_lease(SweepRun& run, const LeaseEvent& event, Instant at);

/// The running trials that no worker holds, by number.
std::vector<std::int64_t> free_trials(const SweepRun& run);

/// The trial has reported a value.
void note_report(TrialLeases& leases, std::int64_t trial, Instant now);

}    // namespace slipway::sweeps
