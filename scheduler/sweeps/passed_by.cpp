// What a sweep needs of its trials follows from the search alone, so it is asked of it each time
// and written down nowhere: a checkpoint that was kept for the best trial is passed by when another
// one becomes the best. Who else needs one (a pin, a job that begins with it) is the store's to
// say.

#include "scheduler/sweeps/passed_by.h"

#include <algorithm>
#include <charconv>

#include "scheduler/sweeps/value_checkpoint.h"

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

bool has_final_value(const Trial& trial) {
    return !goes_on(trial) && !trial.reports.empty();
}

/// The best of the trials whose values stay as they are. The best of all may have trained on to a
/// worse last value when it ends: then this one is the best again.
std::optional<std::int64_t> best_of_ended(const SweepRun& run) {
    const Trial* best = nullptr;
    for (const Trial& trial : run.search.trials())
        if (has_final_value(trial) &&
            (best == nullptr || search::last_loss(trial) < search::last_loss(*best)))
            best = &trial;
    return best == nullptr ? std::nullopt : std::optional(best->number);
}

bool may_win(const SweepRun& run, std::int64_t trial) {
    if (run.search.best_trial() == trial) return true;
    const bool can_become_worse = run.spec.objective.value == ObjectiveValue::last;
    return can_become_worse && !run.spec.cross_validation && best_of_ended(run) == trial;
}

/// Of a trial that is here and does not go on.
bool needs_whole_job(const SweepRun& run, const JobKey& of, const std::string& job_id) {
    const Trial& trial = run.search.trials()[std::size_t(of.trial)];
    const bool is_newest = run.jobs[std::size_t(of.trial)].job_id == job_id;
    const bool races = run.spec.objective.fold_pruning.has_value();
    if (is_newest && trial.state == TrialState::failed &&
        search::can_retry(run.spec.algorithm.name, races))
        return true;
    return (is_newest || run.spec.cross_validation) && may_win(run, of.trial);
}

TrialValue value_of(const SweepRun& run, std::int64_t number) {
    const Trial& trial = run.search.trials()[std::size_t(number)];
    const auto& judged = search::judged_report(trial, run.search.plan().selection);
    return {.time = judged.time, .value = judged.value};
}

/// None: it is needed whatever it holds, or none of ours.
std::optional<JobKey> key_of_passed_job(const SweepRun& run, const std::string& job_id,
                                        const std::string& key) {
    const JobKey of = read_key(key);
    if (of.trial < 0 || of.trial >= std::int64_t(run.search.trials().size())) return std::nullopt;
    if (may_be_continued(run, run.search.trials()[std::size_t(of.trial)], of)) return std::nullopt;
    return needs_whole_job(run, of, job_id) ? std::nullopt : std::optional(of);
}

}    // namespace

bool is_passed_by(const SweepRun& run, const store::EndedTrialJob& job) {
    const auto of = key_of_passed_job(run, job.id, job.key);
    if (!of) return false;
    // Of earlier jobs of a winner, those that had trained to its value.
    return !may_win(run, of->trial) || (of->until > 0 && of->until < value_of(run, of->trial).time);
}

bool is_passed_by(const SweepRun& run, const store::IdleCheckpoint& checkpoint) {
    const auto of = key_of_passed_job(run, checkpoint.job_id, checkpoint.key);
    if (!of) return false;
    return !may_win(run, of->trial) ||
           !has_value(run.spec, value_of(run, of->trial), checkpoint.saved);
}

}    // namespace slipway::sweeps
