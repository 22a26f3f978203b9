#include "scheduler/cross_validation/fold_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/store/access.h"
#include "scheduler/store/jobs.h"
#include "scheduler/submission/forked_job.h"
#include "scheduler/submission/judged_evaluation.h"
#include "scheduler/submission/measured_check.h"
#include "scheduler/submission/prediction_job.h"
#include "scheduler/submission/training_job.h"

namespace slipway {

namespace {

constexpr std::size_t name_bytes_max = 160;    // of the cross-validation's; a job's has more

/// The first bytes of a name, between characters.
std::string shortened_name(const std::string& name) {
    if (name.size() <= name_bytes_max) return name;
    std::size_t end = name_bytes_max;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U)
        --end;
    return name.substr(0, end);
}

std::string name_of_part(const store::CrossValidation& of, std::string_view part) {
    return fmt::format("{}-{}", shortened_name(of.name), part);
}

/// The fold is judged by the best evaluation, so its weights are those to keep.
void keep_best_evaluation(JobSpec& spec) {
    if (!spec.train.early_stopping) return;
    BestSpec& best = spec.checkpoint.best;
    best.metric = spec.train.early_stopping->metric;
    best.mode = spec.train.early_stopping->mode;
    best.keep = std::max<std::int64_t>(best.keep, 1);
}

void adopt(Decoded<submission::CheckedJob>& job, const store::CrossValidation& parent,
           std::string key) {
    job.value.parent = store::JobParent{.id = parent.id, .key = std::move(key)};
}

/// Those that the fold is judged by. One that is not kept is refused by the prediction.
PredictionSource weights_of_fold(const FoldJobSource& source, const store::StoredFold& fold) {
    const auto& rule = source.spec.job.train.early_stopping;
    const auto best =
        rule ? submission::best_evaluation(source.store, fold.job_id, *rule) : std::nullopt;
    if (!best) return {.job = fold.job_id, .checkpoint = "last"};
    const auto checkpoint = submission::checkpoint_of(source.store, *best);
    return {.job = best->job_id, .checkpoint = checkpoint ? checkpoint->id : "best"};
}

}    // namespace

std::optional<submission::Submitter> owner_of(store::Store& store,
                                              const store::CrossValidation& cross_validation) {
    const auto token = store::find_token(store, cross_validation.created_by);
    if (!token || !store::allows(token->grants, cross_validation.project, TokenRole::editor))
        return std::nullopt;
    return submission::submitter_of(token->id, token->grants);
}

Decoded<submission::CheckedJob> training_of_fold(const FoldJobSource& source, std::int64_t fold) {
    const bool on_all = fold == store::StoredFold::refit;
    JobSpec spec = source.spec.job;
    spec.project = source.cross_validation.project;
    spec.name =
        name_of_part(source.cross_validation, on_all ? "refit" : fmt::format("fold-{}", fold));
    spec.data.dataset = source.cross_validation.dataset_id;
    spec.data.split = {};
    if (on_all) {
        spec.data.split.val_fraction = 0;
        submission::forget_unmeasured(spec);
    } else {
        spec.data.split.id = source.cross_validation.split_id;
        spec.data.split.fold = fold;
        keep_best_evaluation(spec);
    }
    Decoded<submission::CheckedJob> job = submission::check_training(
        {.value = std::move(spec), .problems = {}}, source.submitter, source.store);
    adopt(job, source.cross_validation, store::training_key(fold));
    return job;
}

Decoded<submission::CheckedJob> retraining_of_fold(const FoldJobSource& source,
                                                   const store::StoredFold& fold) {
    const auto origin =
        fold.job_id.empty() ? std::nullopt : store::find_job(source.store, fold.job_id);
    if (!origin || origin->state == JobState::succeeded) return training_of_fold(source, fold.fold);
    Decoded<submission::CheckedJob> job =
        submission::check_retry(*origin, source.submitter, source.store);
    job.value.spec.name = name_of_part(source.cross_validation, fmt::format("fold-{}", fold.fold));
    adopt(job, source.cross_validation, store::training_key(fold.fold));
    return job;
}

Decoded<submission::CheckedJob> prediction_of_fold(const FoldJobSource& source,
                                                   const store::StoredFold& fold) {
    const JobSpec& trained = source.spec.job;
    PredictionSpec prediction;
    prediction.name = name_of_part(source.cross_validation, fmt::format("fold-{}-oof", fold.fold));
    prediction.project = source.cross_validation.project;
    prediction.labels = trained.labels;
    prediction.from = weights_of_fold(source, fold);
    prediction.data.dataset = source.cross_validation.dataset_id;
    prediction.data.split = PredictedSplit::val;
    prediction.batch_size_per_core = trained.train.batch_size_per_core;
    prediction.accelerator = on_one_host(trained.accelerator);
    prediction.limits.max_restarts = trained.limits.max_restarts;
    prediction.queue = trained.queue;
    Decoded<submission::CheckedJob> job = submission::check_prediction(
        {.value = std::move(prediction), .problems = {}}, source.submitter, source.store);
    adopt(job, source.cross_validation, store::prediction_key(fold.fold));
    return job;
}

}    // namespace slipway
