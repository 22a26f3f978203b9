#include "scheduler/cross_validation/checked_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/base/id.h"
#include "scheduler/submission/split_fit_check.h"
#include "scheduler/submission/training_job.h"

namespace slipway {

namespace {

/// The checks of a job say where in a job; here it is one within the request.
std::vector<Problem> below_job(std::vector<Problem> problems) {
    for (Problem& one : problems)
        one.pointer = "/job" + one.pointer;
    return problems;
}

std::vector<Problem> check_stored_split(store::Store& store, CheckedCrossValidation& checked) {
    const std::string& id = checked.spec.split_id;
    if (id.empty() || !checked.job.dataset) return {};
    auto split = store::find_split(store, id);
    const auto refuse = [](std::string code, std::string message) {
        return std::vector<Problem>{
            {.pointer = "/split_id", .code = std::move(code), .message = std::move(message)}};
    };
    if (!split || split->dataset_id != checked.job.dataset_id()) {
        return refuse("not_found",
                      fmt::format("the dataset {} has no split `{}`; GET "
                                  "/v1/datasets/{}/splits lists them",
                                  checked.job.dataset->name, id, checked.job.dataset_id()));
    }
    if (split->state == store::SplitState::failed)
        return refuse("inconsistent",
                      fmt::format("the split {} could not be made: see its problems", id));
    if (split->state == store::SplitState::ready && split->folds < 2) {
        return refuse("inconsistent",
                      fmt::format("the split {} has a single fold; a cross-validation needs at "
                                  "least 2",
                                  id));
    }
    checked.stored_split = std::move(split);
    return {};
}

Problem inconsistent(std::string pointer, std::string message) {
    return {.pointer = std::move(pointer), .code = "inconsistent", .message = std::move(message)};
}

/// Predictions need the weights that were measured: of the last evaluation, with early stopping of
/// the best one.
void check_weights(Decoded<CheckedCrossValidation>& checked) {
    const JobSpec& job = checked.value.spec.job;
    const CheckpointSpec& saves = job.checkpoint;
    const auto& stopping = job.train.early_stopping;
    if (stopping && saves.best.metric != BestSpec{}.metric && saves.best.metric != stopping->metric)
        checked.problems.push_back(inconsistent(
            "/job/checkpoint/best/metric",
            fmt::format("job.checkpoint.best.metric must be that of job.train.early_stopping, {}, "
                        "got {}: a fold is judged by its best evaluation; leave it out",
                        stopping->metric, saves.best.metric)));
    if (!checked.value.spec.outputs.oof_predictions || saves.every_epochs == 1) return;
    if (stopping)
        checked.problems.push_back(inconsistent(
            "/job/checkpoint/every_epochs",
            fmt::format("job.checkpoint.every_epochs must be 1 with job.train.early_stopping, got "
                        "{}: the predictions need the weights of the best epoch; leave it out, or "
                        "set outputs.oof_predictions to false",
                        saves.every_epochs)));
    else if (!saves.save_final)
        checked.problems.push_back(inconsistent(
            "/job/checkpoint/save_final",
            "job.checkpoint.save_final cannot be false: the predictions need the weights of the "
            "last epoch; leave it out, or set outputs.oof_predictions to false"));
}

/// The samples that choose the epoch are those that it is measured on.
void warn_of_early_stopping(CheckedCrossValidation& checked) {
    const auto& stopping = checked.spec.job.train.early_stopping;
    if (!stopping) return;
    checked.warnings.push_back(inconsistent(
        "/job/train/early_stopping",
        fmt::format("each fold is judged by its best epoch, which job.train.early_stopping chooses "
                    "by {} of the samples that the fold is measured on: the values are optimistic",
                    stopping->metric)));
}

/// What is known of a new split before it is made.
void check_new_split(Decoded<CheckedCrossValidation>& checked) {
    const auto& dataset = checked.value.job.dataset;
    if (!checked.value.spec.split || !dataset) return;
    for (Problem& one : submission::check_split_fit(*checked.value.spec.split, *dataset)) {
        one.pointer.insert(0, "/split");
        one.message.insert(0, "split.");
        checked.problems.push_back(std::move(one));
    }
    auto warning = submission::rare_class_warning(*checked.value.spec.split, *dataset);
    if (!warning) return;
    warning->pointer.insert(0, "/split");
    checked.value.warnings.push_back(*std::move(warning));
}

}    // namespace

Decoded<CheckedCrossValidation> check_cross_validation(Decoded<CrossValidationSpec> request,
                                                       const submission::Submitter& submitter,
                                                       store::Store& store) {
    Decoded<CheckedCrossValidation> checked{.value = {}, .problems = std::move(request.problems)};
    checked.value.spec = std::move(request.value);
    if (!checked.ok()) return checked;
    Decoded<submission::CheckedJob> job = submission::check_training(
        {.value = checked.value.spec.job, .problems = {}}, submitter, store);
    checked.value.job = std::move(job.value);
    checked.problems = below_job(std::move(job.problems));
    submission::add_problems(checked.problems, check_stored_split(store, checked.value));
    check_new_split(checked);
    check_weights(checked);
    warn_of_early_stopping(checked.value);
    return checked;
}

std::optional<std::int64_t> folds_of(const CheckedCrossValidation& checked) {
    if (checked.stored_split && checked.stored_split->state == store::SplitState::ready)
        return checked.stored_split->folds;
    if (!checked.spec.split) return std::nullopt;
    const SplitCreate& split = *checked.spec.split;
    if (split.method == SplitMethod::leave_one_group_out) return std::nullopt;
    return split.method == SplitMethod::repeated_kfold ? split.folds * split.repeats : split.folds;
}

StorableCrossValidation storable(CheckedCrossValidation checked, const std::string& token_id) {
    StorableCrossValidation made;
    CrossValidationSpec& spec = checked.spec;
    store::CrossValidation& wanted = made.wanted;
    wanted.id = new_id("cv");
    if (spec.name.empty()) {
        spec.name = fmt::format("cv-{}-{}", to_string(spec.job.model.arch),
                                wanted.id.substr(wanted.id.size() - 6));
    }
    wanted.name = spec.name;
    wanted.project = spec.project;
    wanted.labels = spec.labels;
    wanted.spec = encode(spec).dump();
    wanted.dataset_id = checked.job.dataset_id();
    wanted.split_id = spec.split_id;
    wanted.created_by = token_id;
    if (spec.split) {
        made.split = store::StoredSplit{.id = new_id("spl"),
                                        .dataset_id = wanted.dataset_id,
                                        .request = encode(*spec.split).dump(),
                                        .created_by = token_id};
    }
    return made;
}

}    // namespace slipway
