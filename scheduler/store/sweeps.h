#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/spec/job_state.h"
#include "api/spec/sweep_state.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/splits.h"
#include "scheduler/store/store.h"

// Sweeps, their logs and their trials. A sweep changes by steps: new events with the decisions that
// came of them, the trials that these changed, jobs to make and jobs to end, all in one transaction
// and only if nobody else has changed the sweep since it was read. So a process that dies leaves a
// whole step or none of it.
namespace slipway::store {

/// How many trials are in each state.
struct TrialCounts {
    int trials = 0;
    int running = 0;
    int paused = 0;
    int completed = 0;
    int stopped = 0;
    int failed = 0;
    bool operator==(const TrialCounts&) const = default;
};

struct BestTrial {
    int trial = 0;
    double value = 0;
    bool operator==(const BestTrial&) const = default;
};

struct Sweep {
    std::string id{};    ///< swp_…
    std::string name{};
    std::string project{};
    std::map<std::string, std::string> labels{};
    SweepState state{};
    std::optional<Reason> reason{};
    JsonText spec{};    ///< normalised SweepSpec
    int max_trials = 1;
    int max_concurrent = 1;
    bool external = false;
    std::string
        split_id{};      ///< of the cross-validations that its trials are; empty: they are jobs
    JsonText folds{};    ///< {"dataset_id", "sizes": [{"train", "val"}]}; empty until it is made
    std::int64_t seq = 0;    ///< of the newest event
    TrialCounts counts{};
    std::optional<BestTrial> best{};
    std::int64_t version = 1;    ///< grows with every change
    std::string created_by{};
    Instant created_at{};
    std::optional<Instant> finished_at{};
};

struct SweepTrial {
    int number = 0;
    std::string state{};    ///< a word of search::TrialState
    JsonText point{};       ///< {"train.optimizer.lr": 0.01}
    std::int64_t until = 0;
    int reports = 0;
    std::optional<std::int64_t> last_time{};
    std::optional<double> last_value{};    ///< none: not a finite number
    std::optional<double> value{};         ///< that it is judged by
    std::optional<std::int64_t> value_time{};
    JsonText lineage = "[]";
    JsonText fold_values = "[]";    ///< of a cross-validation, in the order of folds
    std::string job_id{};           ///< the newest one; empty: none was made
    bool job_open = false;          ///< its end has not been taken into account
    int jobs = 0;
    std::string reason{};
    Instant started_at{};
    std::optional<Instant> ended_at{};    ///< set by the database when the state is an end
};

/// A line of the log.
struct SweepEvent {
    std::int64_t seq = 0;
    Instant at{};
    JsonText event{};
    JsonText decisions = "[]";
};

/// Somebody has changed the sweep since it was read: read it again.
class SweepChanged : public Error {
public:
    explicit SweepChanged(std::string_view id);
};

/// What limits a project's new sweeps; 0: no limit.
struct SweepCreationLimits {
    std::int64_t active_max = 0;           ///< sweeps that have not ended
    std::int64_t making_splits_max = 0;    ///< as create_split's
};

/// A new sweep in state running; `version`, counts and times are the database's. `split`: as
/// use_split_in, its id becomes split_id. `known`: [{"point", "value"}] of earlier sweeps.
/// errors  throws exhausted when the project has active_max sweeps; as use_split_in
Sweep create_sweep(Store& store, const Sweep& sweep, const JsonText& known,
                   const SweepCreationLimits& limits, const std::optional<SplitUse>& split = {});

JsonText find_known_results(Store& store, std::string_view id);

std::optional<Sweep> find_sweep(Store& store, std::string_view id);

struct SweepFilter {
    std::vector<std::string> projects{};    ///< empty: all
    std::vector<SweepState> states{};
    std::string name_contains{};
    std::map<std::string, std::string> labels{};
};

/// Newest first.
Page<Sweep> list_sweeps(Store& store, const SweepFilter& filter, const PageRequest& page);

struct ActiveSweep {
    std::string id{};
    std::int64_t version = 0;
    std::string project{};
    std::string created_by{};
};

/// Those that a coordinator has to look at: not ended, not external; the oldest first.
std::vector<ActiveSweep> list_active_sweeps(Store& store, int limit);

/// Sweeps that have ended and whose checkpoints are to be looked at once more.
std::vector<std::string> list_untidied_sweeps(Store& store, int limit);
void mark_sweep_tidied(Store& store, std::string_view id, const LeaderTerm& term);

/// A checkpoint that could be deleted: its job has ended, nobody has pinned it or needs it.
struct IdleCheckpoint {
    std::string id{};
    std::string job_id{};
    std::string key{};    ///< of the job: JobParent
    SavedMeasurement saved{};
};
/// Those of the sweep's jobs from after the id `after` on, in the order of ids.
std::vector<IdleCheckpoint> list_idle_checkpoints(Store& store, std::string_view sweep_id,
                                                  std::string_view after, int limit);

/// A job of a sweep that has ended.
struct EndedTrialJob {
    std::string id{};
    std::string key{};    ///< JobParent
};
/// Those whose reports have all their parts, from after the id `after` on, in the order of ids.
std::vector<EndedTrialJob> list_whole_reports(Store& store, std::string_view sweep_id,
                                              std::string_view after, int limit);
/// Deletes the programs, the timelines and the run folders of these jobs; their reports stay. How
/// many had them.
std::int64_t trim_reports(Store& store, const std::vector<std::string>& job_ids);
bool is_report_trimmed(Store& store, std::string_view job_id);

enum class TrialOrder { number, best, worst };

/// Trials; by value only those that have one. `states` empty: all. `lower_is_better` says which is
/// the best.
Page<SweepTrial> list_sweep_trials(Store& store, std::string_view sweep_id,
                                   const std::vector<std::string>& states, TrialOrder order,
                                   bool lower_is_better, const PageRequest& page);
std::vector<SweepTrial> all_sweep_trials(Store& store, std::string_view sweep_id);
std::optional<SweepTrial> find_sweep_trial(Store& store, std::string_view sweep_id, int number);

/// A trial that failed, and the code of the reason.
struct FailedTrial {
    int number = 0;
    std::string code{};      ///< as failure_code_summary of the answers says
    std::string reason{};    ///< for people
    std::string job_id{};    ///< the newest one; empty: none was made
};
/// All of them, by number.
std::vector<FailedTrial> list_failed_trials(Store& store, std::string_view sweep_id);

struct SweepLogPage {
    std::vector<SweepEvent> events{};
    bool more = false;    ///< further events may follow
};

/// The log from after `after` on, in order; the page ends at the limit or at page_bytes_max.
SweepLogPage list_sweep_events(Store& store, std::string_view sweep_id, std::int64_t after,
                               int limit);

/// What the job of a trial looks like.
struct TrialJob {
    std::string sweep_id{};
    int trial = 0;
    std::string job_id{};
    std::optional<JobState> state{};    ///< none: it was deleted
    std::optional<Reason> reason{};
    std::int64_t seen = 0;    ///< changes when the job has got on
};

/// The open jobs of these sweeps, by sweep and trial. One statement, however many they are.
std::vector<TrialJob> list_open_trial_jobs(Store& store, const std::vector<std::string>& sweep_ids);

/// Core-seconds that attempts of the sweep's jobs have used so far.
double sweep_core_seconds(Store& store, std::string_view sweep_id);

/// The newest job with this parent and key that has succeeded.
std::optional<std::string> find_job_of_parent(Store& store, std::string_view parent_id,
                                              std::string_view key);

/// A change of a sweep. What is absent stays.
struct SweepStep {
    std::string sweep_id{};
    std::int64_t version = 0;    ///< that the sweep must have
    /// The new ones; `seq` goes on where the sweep's ends. A change of state is one more.
    std::vector<SweepEvent> events{};
    std::vector<SweepTrial> trials{};    ///< new or changed
    std::optional<SweepState> state{};
    std::optional<Reason> reason{};    ///< with state
    std::optional<TrialCounts> counts{};
    std::optional<BestTrial> best{};
    std::optional<int> max_trials{};
    std::optional<int> max_concurrent{};
    JsonText folds{};    ///< empty: as they are
    std::optional<std::string> name{};
    std::optional<std::map<std::string, std::string>> labels{};
    /// Jobs to cancel, as request_intent does; one that has ended is left alone.
    std::map<std::string, Reason> ends{};
};

/// Within a transaction; for submission::Submission::also. errors  throws SweepChanged
void write_sweep_step(Transaction& transaction, const SweepStep& step, const LeaderTerm& term);

/// In one of its own. errors  throws SweepChanged
Sweep commit_sweep_step(Store& store, const SweepStep& step, const LeaderTerm& term = {});

/// Tells who listens that the sweep and the jobs that the step ends have changed.
void announce_sweep_step(Store& store, const SweepStep& step);

/// With its log and its trials; its jobs are gone already. False: there is none. errors  throws
/// conflict when it has not ended, or when it still has jobs
bool delete_sweep(Store& store, std::string_view id);

}    // namespace slipway::store
