#include "scheduler/sweeps/trial_job.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/spec/job_actions.h"
#include "scheduler/search/job_point.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/submission/forked_job.h"
#include "scheduler/submission/training_job.h"
#include "scheduler/sweeps/plan.h"

namespace slipway::sweeps {

namespace {

using submission::CheckedJob;

submission::Submitter submitter_of(const SweepRun& run) {
    return {.token_id = run.sweep.created_by, .projects = {run.sweep.project}};
}

Decoded<CheckedJob> impossible(std::string message) {
    return {.value = {}, .problems = {{"", "inconsistent", std::move(message)}}};
}

/// The spec as a change of the one that the checkpoint was made by: what this point does not have
/// goes.
Json changes_to(const SweepRun& run, Json spec, const search::Point& point) {
    search::Point absent;
    for (const search::Parameter& parameter : run.search.space().parameters())
        if (!point.contains(parameter.path)) absent[parameter.path] = nullptr;
    const Result<Json> changes = search::with_point(spec, absent);
    return changes ? *changes : std::move(spec);
}

/// A sweep that had ended goes on: the checkpoint was deleted, and trained at once the weights are
/// the same. Not of pbt, whose trials had other values before.
Decoded<CheckedJob> begun_again(store::Store& store, const SweepRun& run, const Json& spec) {
    return submission::check_training(decode_job_spec(spec), submitter_of(run), store);
}

Decoded<CheckedJob> continued_job(store::Store& store, const SweepRun& run, const WantedJob& wanted,
                                  const Json& spec) {
    const std::string key = key_of(wanted.from->trial, wanted.from->time);
    const auto job_id = store::find_job_of_parent(store, run.sweep.id, key);
    const auto origin = job_id ? store::find_job(store, *job_id) : std::nullopt;
    if (!origin)
        return impossible(fmt::format("the job of trial {} that trained to {} was deleted",
                                      wanted.from->trial, wanted.from->time));
    const bool can_begin_again = run.spec.algorithm.name != SearchMethod::pbt;
    if (can_begin_again && !store::find_newest_checkpoint(store, origin->id))
        return begun_again(store, run, spec);
    const auto& point = run.search.trials()[std::size_t(wanted.trial)].point;
    const JobForkBody fork{.changes = changes_to(run, spec, point)};
    return submission::check_fork(*origin, fork, submitter_of(run), store);
}

/// From where the trial had got to. Its last job may have done what it was for: then the next one
/// could not be made.
Decoded<CheckedJob> retried_job(store::Store& store, const SweepRun& run, WantedJob wanted,
                                const store::Job& last, const Json& spec) {
    if (last.state != JobState::succeeded)
        return submission::check_retry(last, submitter_of(run), store);
    const auto& reports = run.search.trials()[std::size_t(wanted.trial)].reports;
    wanted.from = TrainedTo{wanted.trial, reports.empty() ? 0 : reports.back().time};
    return continued_job(store, run, wanted, spec);
}

/// A fold that failed goes on from its newest checkpoint.
Decoded<CheckedJob> fold_job(store::Store& store, const SweepRun& run, const WantedJob& wanted) {
    const std::string& last_id = run.jobs[std::size_t(wanted.trial)].job_id;
    const auto last = last_id.empty() ? std::nullopt : store::find_job(store, last_id);
    const bool is_again =
        last && last->parent && last->parent->key == key_of_fold(wanted.trial, *wanted.fold);
    if (is_again) return submission::check_retry(*last, submitter_of(run), store);
    const auto& point = run.search.trials()[std::size_t(wanted.trial)].point;
    const Result<Json> spec =
        fold_spec(run.spec, point, run.folds.dataset_id, run.sweep.split_id, *wanted.fold);
    if (!spec) return impossible(spec.error().what());
    return submission::check_training(decode_job_spec(*spec), submitter_of(run), store);
}

Decoded<CheckedJob> unnamed_job(store::Store& store, const SweepRun& run, const WantedJob& wanted) {
    if (wanted.fold) return fold_job(store, run, wanted);
    const search::Trial& trial = run.search.trials()[std::size_t(wanted.trial)];
    const Result<Json> spec = trial_spec(run.spec, trial.point, wanted.until);
    if (!spec) return impossible(spec.error().what());
    const std::string& last_id = run.jobs[std::size_t(wanted.trial)].job_id;
    const auto last =
        wanted.is_retry && !last_id.empty() ? store::find_job(store, last_id) : std::nullopt;
    if (last) return retried_job(store, run, wanted, *last, *spec);
    if (wanted.from) return continued_job(store, run, wanted, *spec);
    return submission::check_training(decode_job_spec(*spec), submitter_of(run), store);
}

}    // namespace

Decoded<CheckedJob> make_trial_job(store::Store& store, const SweepRun& run,
                                   const WantedJob& wanted) {
    Decoded<CheckedJob> job = unnamed_job(store, run, wanted);
    const std::string key =
        wanted.fold ? key_of_fold(wanted.trial, *wanted.fold) : key_of(wanted.trial, wanted.until);
    job.value.spec.name =
        fmt::format("{}-{}", run.sweep.name, wanted.fold ? key : std::to_string(wanted.trial));
    job.value.parent = store::JobParent{.id = run.sweep.id, .key = key};
    return job;
}

}    // namespace slipway::sweeps
