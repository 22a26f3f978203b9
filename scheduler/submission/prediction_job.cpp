#include "scheduler/submission/prediction_job.h"

#include <fmt/format.h>

#include <utility>

#include "api/base/parsed_json.h"
#include "scheduler/submission/ensemble_check.h"
#include "scheduler/submission/named_dataset.h"
#include "scheduler/submission/pool_check.h"
#include "scheduler/submission/prediction_check.h"

namespace slipway::submission {

Decoded<CheckedJob> check_prediction(Decoded<PredictionSpec> request, const Submitter& submitter,
                                     store::Store& store) {
    PredictionSpec& prediction = request.value;
    Decoded<CheckedJob> checked{.value = {}, .problems = std::move(request.problems)};
    CheckedJob& job = checked.value;
    job.kind = JobKind::predict;
    std::vector<Problem>& problems = checked.problems;
    if (!prediction.data.dataset.empty() && submitter.sees(prediction.project)) {
        NamedDataset named = find_named_dataset(store, prediction.project, prediction.data.dataset);
        job.dataset = std::move(named.dataset);
        add_problems(problems, std::move(named.problems));
    }
    add_problems(checked.problems, check_pool(store, prediction.queue));
    FoundCheckpoints found;
    if (!has_problem_at(problems, "/from")) {
        found = find_predicting_checkpoints(store, submitter, prediction.from);
        if (!found.ids.empty()) prediction.from = named_by_id(found);
        add_problems(problems, std::move(found.problems));
    }
    if (!found.jobs.empty() && job.dataset) {
        add_problems(problems, check_predicted_data(store, prediction.data, *job.dataset,
                                                    found.jobs.front()));
        add_problems(problems, check_ensemble_split(prediction.data, found.jobs));
    }
    if (!checked.ok()) return checked;
    fill_time_limit(store, prediction.queue, prediction.limits);
    const JobSpec spec = trained_spec(found.jobs.front());
    if (!prediction.precision) prediction.precision = spec.train.precision;
    job.spec = predicting_job(spec, prediction);
    job.payload = encode(prediction);
    job.effective = encode_effective(prediction);
    job.name_stem = fmt::format("predict-{}", to_string(spec.model.arch));
    job.checkpoint_ids = std::move(found.ids);
    return checked;
}

}    // namespace slipway::submission
