#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/spec/job_state.h"
#include "scheduler/sweeps/sweep_run.h"

namespace slipway::sweeps {

/// A value of the objective that a job has measured.
struct Measured {
    std::int64_t time = 0;
    double value = 0;
};

/// What is seen of the open job of a trial.
struct ObservedJob {
    std::int64_t trial = 0;
    std::optional<JobState> state{};    ///< none: it was deleted
    std::optional<store::Reason> reason{};
    std::vector<Measured> values{};    ///< all or those that are new; times increase
};

struct Observation {
    std::vector<ObservedJob> jobs{};    ///< by trial
    double core_s = 0;                  ///< that the sweep has used; only where it has a limit
    double age_s = 0;                   ///< since the sweep was created
    bool owner_is_lost = false;         ///< the token that made it may no longer submit
};

/// The checkpoint that a trial goes on from: of this trial, when it had trained to this time.
struct TrainedTo {
    std::int64_t trial = 0;
    std::int64_t time = 0;
};

/// A job to be made. `from` none: it begins at the beginning, or where its own last job has got to
/// (a retry).
struct WantedJob {
    std::int64_t trial = 0;
    std::int64_t until = 0;
    std::optional<TrainedTo> from{};
    bool is_retry = false;
    std::optional<std::int64_t> fold{};    ///< of a cross-validation; tried again if it failed
};

/// What came of an observation.
struct CoordinatorStep {
    StepLog log{};
    std::vector<WantedJob> jobs{};
    std::map<std::int64_t, store::Reason> ends{};    ///< trials whose open jobs end, and why
    std::optional<SweepState> state{};
    std::optional<store::Reason> reason{};
    /// More trials could be started, and choosing their points is for the next step.
    bool has_used_its_slice = false;

    bool is_empty() const {
        return log.events.empty() && log.changed.empty() && jobs.empty() && ends.empty() && !state;
    }
};

/// Takes an observation into the run: reports and ends first, in the order of trials, then limits,
/// then questions to the search as long as trials may be started. Pure but for the run. The jobs
/// that it asks for count as open: who cannot make one calls fail_trial.
CoordinatorStep advance(SweepRun& run, const Observation& seen);

/// Of a sweep whose trials run elsewhere, after events were taken into `step`: limits, and the end.
void settle_external(SweepRun& run, CoordinatorStep& step, double age_s);

/// The limit that would end the sweep as soon as it goes on: its sentence. None: no limit does.
std::optional<LimitEvent> limit_reached(const SweepRun& run, const Observation& seen);

/// The job of a trial cannot be made.
void fail_trial(SweepRun& run, CoordinatorStep& step, std::int64_t trial, const std::string& why);

/// The parent_key of the jobs of a trial: "3", or "3@9" of the one that trains to 9.
std::string key_of(std::int64_t trial, std::int64_t until);
/// Of the job of one fold: "3-fold-0".
std::string key_of_fold(std::int64_t trial, std::int64_t fold);

}    // namespace slipway::sweeps
