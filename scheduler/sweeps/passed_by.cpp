// What a sweep needs of its trials follows from the search alone, so it is asked of it each time
// and written down nowhere: a checkpoint that was kept for the best trial is passed by when another
// one becomes the best. Who else needs one (a pin, a job that begins with it) is the store's to
// say.

#include "scheduler/sweeps/passed_by.h"

#include <algorithm>
#include <charconv>

namespace slipway::sweeps {

namespace {

using search::Trial;
using search::TrialState;

bool goes_on(const Trial& trial) {
    return trial.state == TrialState::running || trial.state == TrialState::paused;
}

/// "3@9", "3-fold-0": the first number, and the one after '@', 0 without.
struct JobKey {
    std::int64_t trial = -1;
    std::int64_t until = 0;
};

JobKey read_key(const std::string& key) {
    JobKey read;
    const char* const end = key.data() + key.size();
    const auto [rest, error] = std::from_chars(key.data(), end, read.trial);
    if (error != std::errc()) return {};
    if (rest != end && *rest == '@') std::from_chars(rest + 1, end, read.until);
    return read;
}

/// pbt: the time that every trial which goes on has reached; nothing before the first one has.
std::optional<std::int64_t> generation_of(const SweepRun& run) {
    std::optional<std::int64_t> least;
    for (const Trial& trial : run.search.trials()) {
        if (!goes_on(trial)) continue;
        const std::int64_t reached = trial.reports.empty() ? 0 : trial.reports.back().time;
        least = std::min(least.value_or(reached), reached);
    }
    return least;
}

bool may_be_continued(const SweepRun& run, const Trial& trial, const JobKey& key) {
    if (is_final(run.sweep.state)) return false;
    if (run.spec.algorithm.name != SearchMethod::pbt) return goes_on(trial);
    const auto generation = generation_of(run);
    return generation && key.until >= *generation;
}

}    // namespace

bool is_passed_by(const SweepRun& run, const std::string& job_id, const std::string& key) {
    const JobKey of = read_key(key);
    if (of.trial < 0 || of.trial >= std::int64_t(run.search.trials().size())) return false;
    const Trial& trial = run.search.trials()[std::size_t(of.trial)];
    if (may_be_continued(run, trial, of)) return false;
    const bool is_newest = run.jobs[std::size_t(of.trial)].job_id == job_id;
    const bool races = run.spec.objective.fold_pruning.has_value();
    if (is_newest && trial.state == TrialState::failed &&
        search::can_retry(run.spec.algorithm.name, races))
        return false;
    if (run.search.best_trial() != of.trial) return true;
    return !is_newest && !run.spec.cross_validation;
}

}    // namespace slipway::sweeps
