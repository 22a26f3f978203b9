#include "api/spec/evaluation_spec.h"

namespace slipway {

PredictionDataSpec samples_of(const EvaluationSpec& evaluation) {
    return {.dataset = evaluation.data.dataset,
            .part = evaluation.data.part,
            .split = evaluation.data.split.value_or(PredictedSplit::all)};
}

JobSpec evaluating_job(const JobSpec& trained, const EvaluationSpec& evaluation, bool own_data) {
    PredictionSpec prediction;
    prediction.name = evaluation.name;
    prediction.project = evaluation.project;
    prediction.labels = evaluation.labels;
    prediction.data = samples_of(evaluation);
    prediction.precision = evaluation.precision;
    prediction.accelerator = evaluation.accelerator;
    prediction.limits = evaluation.limits;
    prediction.queue = evaluation.queue;
    JobSpec spec = predicting_job(trained, prediction);
    if (own_data) spec.data.version = trained.data.version;
    spec.train.batch_size_per_core = trained.train.batch_size_per_core * trained.accelerator.cores /
                                     evaluation.accelerator.cores;
    spec.train.grad_accumulation = 1;    // nothing is accumulated, and an evaluation's batch is one
    return spec;
}

}    // namespace slipway
