// A trial's value was measured once, at one time, in one of its jobs: of a rung, of a retry, of a
// generation. The newest checkpoint, or the best one of the newest job, may have another value, so
// the checkpoint is found by its time and its value, among those of all jobs of the trial. A row
// that named it would be a second truth beside the trial's value: it would have to be written when
// the value becomes the best one, before its checkpoint is stored.

#include "scheduler/sweeps/value_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/submission/judged_evaluation.h"
#include "scheduler/sweeps/coordinator.h"
#include "scheduler/sweeps/plan.h"

namespace slipway::sweeps {

namespace {

bool counts_steps(const SweepSpec& spec) {
    return spec.algorithm.time_attr == TimeAttribute::step;
}

/// With train.steps the last evaluation may be amid an epoch, which it counts and a checkpoint
/// does not.
bool ends_within_epochs(const SweepSpec& spec) {
    const Json& job = spec.job_template();
    return spec.space.contains("train.steps") ||
           (job.contains("train") && job["train"].is_object() && job["train"].contains("steps"));
}

bool saves_weights(const CheckpointSpec& saves) {
    return saves.save_final || saves.every_epochs > 0 || saves.every_steps > 0;
}

std::optional<JobSpec> job_of(const SweepSpec& spec, const store::SweepTrial& trial) {
    search::Point point;
    const Json stored = store::stored_json(trial.point);
    for (const auto& [path, value] : stored.items())
        point[path] = value;
    const Result<Json> made = trial_spec(spec, point, trial.until);
    if (!made) return std::nullopt;
    Decoded<JobSpec> decoded = decode_job_spec(*made);
    if (!decoded.ok()) return std::nullopt;
    return std::move(decoded.value);
}

std::string why_missing(const SweepSpec& spec, const store::SweepTrial& trial,
                        const std::string& what) {
    const auto job = job_of(spec, trial);
    if (job && !saves_weights(job->checkpoint))
        return fmt::format(
            "the jobs of the trial save no weights: job.checkpoint has save_final false, "
            "every_epochs 0 and every_steps 0");
    if (const auto warning = job ? missing_value_warning(spec, *job) : std::nullopt)
        return fmt::format("{} has no checkpoint: {}", what, warning->message);
    if (trial.job_open) return fmt::format("the checkpoint of {} has not been saved yet", what);
    return fmt::format(
        "the checkpoint of {} is not kept: it was deleted, or its job had trained on before the "
        "trial was ended",
        what);
}

struct FoldValue {
    std::string metric;
    double value = 0;
};

std::optional<store::Checkpoint> weights_of_fold(store::Store& store,
                                                 const std::vector<store::PartCheckpoint>& kept,
                                                 const std::string& key, const FoldValue& of,
                                                 const std::optional<EarlyStoppingSpec>& stopping) {
    std::string newest_job;
    for (const store::PartCheckpoint& one : kept)
        if (one.key == key) newest_job = std::max(newest_job, one.checkpoint.job_id);
    if (newest_job.empty()) return std::nullopt;
    if (const auto best =
            stopping ? submission::best_evaluation(store, newest_job, *stopping) : std::nullopt)
        return submission::checkpoint_of(store, *best);
    // The highest step first: of equal values the last one.
    const auto found = std::ranges::find_if(kept, [&](const store::PartCheckpoint& one) {
        return one.key == key && one.checkpoint.metric_name == of.metric &&
               one.checkpoint.metric_value == of.value;
    });
    return found == kept.end() ? std::nullopt : std::optional(found->checkpoint);
}

}    // namespace

bool has_value(const SweepSpec& spec, const TrialValue& of, const store::SavedMeasurement& saved) {
    if (!saved.metric_value) return false;
    const bool same_metric = saved.metric_name == measured_metric(spec);
    if (same_metric && *saved.metric_value != of.value) return false;
    const std::int64_t time = counts_steps(spec) ? saved.step : saved.epoch;
    if (time == of.time) return true;
    return same_metric && !counts_steps(spec) && ends_within_epochs(spec) && time + 1 == of.time;
}

std::optional<Problem> missing_value_warning(const SweepSpec& spec, const JobSpec& job) {
    const CheckpointSpec& saves = job.checkpoint;
    if (!saves_weights(saves) || saves.every_epochs == 1) return std::nullopt;
    const bool judges_last = spec.objective.value == ObjectiveValue::last;
    if (judges_last && saves.save_final) return std::nullopt;
    return Problem{
        .pointer = "/job/checkpoint/every_epochs",
        .code = "inconsistent",
        .message =
            judges_last
                ? fmt::format("job.checkpoint saves the last epoch only if every_epochs ({}) "
                              "divides it; set save_final to true",
                              saves.every_epochs)
                : fmt::format("job.checkpoint.every_epochs is {}, and a trial is judged by "
                              "the best of all epochs, of which only the saved ones have "
                              "weights; set every_epochs to 1, or objective.value to last",
                              saves.every_epochs)};
}

ValueCheckpoint find_value_checkpoint(store::Store& store, const std::string& sweep_id,
                                      const SweepSpec& spec, const store::SweepTrial& trial) {
    if (spec.is_external()) return {.missing = "the trials of the sweep run elsewhere"};
    if (spec.cross_validation)
        return {.missing = "the trial is a cross-validation, and each fold has weights of its own"};
    if (!trial.value || !trial.value_time)
        return {.missing = fmt::format("trial {} has no finite value", trial.number)};
    const TrialValue value{.time = *trial.value_time, .value = *trial.value};
    auto kept = store::list_part_checkpoints(store, sweep_id, std::to_string(trial.number));
    const auto found = std::ranges::find_if(kept, [&](const store::PartCheckpoint& one) {
        return has_value(spec, value, store::measurement_of(one.checkpoint));
    });
    if (found != kept.end()) return {.checkpoint = std::move(found->checkpoint)};
    return {.missing = why_missing(
                spec, trial,
                fmt::format("{} {}", to_string(spec.algorithm.time_attr), *trial.value_time))};
}

std::vector<FoldCheckpoint> list_fold_checkpoints(store::Store& store, const std::string& sweep_id,
                                                  const SweepSpec& spec,
                                                  const store::SweepTrial& trial) {
    std::vector<FoldCheckpoint> folds;
    if (!spec.cross_validation) return folds;
    const auto kept = store::list_part_checkpoints(store, sweep_id, std::to_string(trial.number));
    const auto job = job_of(spec, trial);
    const auto stopping = job ? job->train.early_stopping : std::nullopt;
    for (const Json& value : store::stored_json(trial.fold_values)) {
        FoldCheckpoint fold{.fold = std::int64_t(folds.size()), .value = value.get<double>()};
        fold.weights.checkpoint =
            weights_of_fold(store, kept, key_of_fold(trial.number, fold.fold),
                            {.metric = measured_metric(spec), .value = fold.value}, stopping);
        if (!fold.weights.checkpoint)
            fold.weights.missing = why_missing(spec, trial, fmt::format("fold {}", fold.fold));
        folds.push_back(std::move(fold));
    }
    return folds;
}

}    // namespace slipway::sweeps
