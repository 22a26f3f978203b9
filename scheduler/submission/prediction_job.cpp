#include "scheduler/submission/prediction_job.h"

#include <fmt/format.h>

#include "api/base/parsed_json.h"
#include "scheduler/submission/named_dataset.h"
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
    std::optional<store::Job> trained;
    if (!has_problem_at(problems, "/from")) {
        FoundCheckpoint found = find_predicting_checkpoint(store, submitter, prediction.from);
        trained = std::move(found.job);
        if (trained) prediction.from = {.job = trained->id, .checkpoint = std::move(found.id)};
        add_problems(problems, std::move(found.problems));
    }
    if (trained && job.dataset)
        add_problems(problems,
                     check_predicted_data(store, prediction.data, *job.dataset, *trained));
    if (!checked.ok()) return checked;
    const JobSpec spec = trained_spec(*trained);
    if (!prediction.precision) prediction.precision = spec.train.precision;
    job.spec = predicting_job(spec, prediction);
    job.payload = encode(prediction);
    job.effective = encode_effective(prediction);
    job.name_stem = fmt::format("predict-{}", to_string(spec.model.arch));
    job.checkpoint_id = prediction.from.checkpoint;
    return checked;
}

}    // namespace slipway::submission
