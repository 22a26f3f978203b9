#include "scheduler/submission/evaluation_job.h"

#include <fmt/format.h>

#include <utility>

#include "api/base/parsed_json.h"
#include "api/base/plural.h"
#include "scheduler/submission/ensemble_check.h"
#include "scheduler/submission/evaluation_check.h"
#include "scheduler/submission/named_dataset.h"
#include "scheduler/submission/pool_check.h"
#include "scheduler/submission/prediction_check.h"

namespace slipway::submission {

namespace {

/// The dataset that is evaluated on, of a checkpoint that was found.
void find_evaluated_dataset(EvaluationSpec& evaluation, const store::Job& trained,
                            const Submitter& submitter, store::Store& store,
                            Decoded<CheckedJob>& checked) {
    if (evaluation.data.dataset.empty()) evaluation.data.dataset = trained.dataset_id;
    if (!submitter.sees(evaluation.project)) return;
    NamedDataset named = find_named_dataset(store, evaluation.project, evaluation.data.dataset);
    checked.value.dataset = std::move(named.dataset);
    add_problems(checked.problems, std::move(named.problems));
}

}    // namespace

Decoded<CheckedJob> check_evaluation(Decoded<EvaluationSpec> request, const Submitter& submitter,
                                     store::Store& store) {
    EvaluationSpec& evaluation = request.value;
    Decoded<CheckedJob> checked{.value = {}, .problems = std::move(request.problems)};
    CheckedJob& job = checked.value;
    job.kind = JobKind::evaluate;
    add_problems(checked.problems, check_pool(store, evaluation.queue));
    FoundCheckpoints found;
    if (!has_problem_at(checked.problems, "/from")) {
        found = find_predicting_checkpoints(store, submitter, evaluation.from);
        if (!found.ids.empty()) evaluation.from = named_by_id(found);
        add_problems(checked.problems, std::move(found.problems));
    }
    if (found.jobs.empty()) return checked;
    const store::Job& trained = found.jobs.front();
    find_evaluated_dataset(evaluation, trained, submitter, store, checked);
    if (!job.dataset) return checked;
    const bool own_data = job.dataset_id() == trained.dataset_id;
    if (!evaluation.data.split) {
        const bool is_divided = own_data && evaluation.data.part.empty();
        evaluation.data.split = is_divided ? PredictedSplit::val : PredictedSplit::all;
    }
    add_problems(checked.problems,
                 check_evaluated_data(store, samples_of(evaluation), *job.dataset, trained));
    add_problems(checked.problems, check_ensemble_split(samples_of(evaluation), found.jobs));
    const JobSpec spec = trained_spec(trained);
    add_problems(checked.problems, check_evaluating_cores(spec, evaluation.accelerator));
    if (!checked.ok()) return checked;
    fill_time_limit(store, evaluation.queue, evaluation.limits);
    if (!evaluation.precision) evaluation.precision = spec.train.precision;
    job.spec = evaluating_job(spec, evaluation, own_data);
    const auto runs = decode_job_spec(encode(job.spec));
    if (!runs.ok())
        checked.problems.push_back(
            {.pointer = "/accelerator/cores",
             .code = "inconsistent",
             .message = fmt::format("the global batch of the training does "
                                    "not fit {}: {}",
                                    counted(evaluation.accelerator.cores, "core"),
                                    joined_messages(runs.problems))});
    job.payload = encode(evaluation);
    job.effective = encode(effective(job.spec));
    job.effective["lr"] = nullptr;
    job.name_stem = fmt::format("evaluate-{}", to_string(spec.model.arch));
    job.checkpoint_ids = std::move(found.ids);
    return checked;
}

}    // namespace slipway::submission
