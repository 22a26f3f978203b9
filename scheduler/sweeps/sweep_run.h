#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/spec/sweep_spec.h"
#include "scheduler/search/search.h"
#include "scheduler/store/sweeps.h"
#include "scheduler/sweeps/keep_going.h"
#include "scheduler/sweeps/leases.h"
#include "scheduler/sweeps/log_event.h"
#include "scheduler/sweeps/plan.h"

namespace slipway::sweeps {

/// What of a trial the search does not know: its jobs, and why it failed.
struct TrialJobs {
    std::string job_id{};    ///< the newest one; empty: none
    bool open = false;       ///< its end has not been taken into account
    int jobs = 0;
    std::string reason{};    ///< the newest decision about it, or why it failed
    bool is_asked_to_end = false;
};

/// A sweep as a coordinator knows it: what is stored, and the search that its log adds up to.
struct SweepRun {
    store::Sweep sweep;
    SweepSpec spec;
    search::Search search;
    SweepFolds folds{};               ///< of a sweep of cross-validations, once they are known
    std::vector<TrialJobs> jobs{};    ///< by trial
    TrialLeases leases{};             ///< of trials that run elsewhere
    /// The last word of the search was to wait, or that it is over; nothing has happened since.
    bool waits = false;
    bool is_over = false;
    std::string over_because{};
    /// Trials in a row that ended without a new best value, and the best one then.
    std::int64_t stalled = 0;
    std::optional<double> best_at_last_end{};
};

/// A step of the log while it is taken: the lines, and which trials they have changed.
struct StepLog {
    std::vector<LoggedEvent> events{};
    std::map<std::int64_t, bool> changed{};    ///< trials
};

/// Takes one event into the run and writes it down with its decisions.
void take(SweepRun& run, StepLog& log, const search::SearchEvent& event, std::string detail = {});

/// The run of a stored sweep. errors  throws data_loss: a line or the spec is of another version
SweepRun load_run(store::Store& store, store::Sweep sweep, const KeepGoing& may_go_on = keep_going);

/// Takes what others have added to the log since into the run, whose trials have no jobs; `sweep`
/// is what is stored now.
void catch_up(store::Store& store, SweepRun& run, store::Sweep sweep);

/// The trial as a row.
store::SweepTrial trial_row(const SweepRun& run, std::int64_t number);
store::TrialCounts count_trials(const SweepRun& run);
std::optional<store::BestTrial> best_of(const SweepRun& run);

/// The step that stores `log`, of the sweep as it was read.
store::SweepStep step_of(const SweepRun& run, const StepLog& log);

}    // namespace slipway::sweeps
