#include "api/spec/prediction_spec.h"

namespace slipway {

JobSpec predicting_job(const JobSpec& trained, const PredictionSpec& prediction) {
    JobSpec spec = trained;
    spec.name = prediction.name;
    spec.project = prediction.project;
    spec.labels = prediction.labels;
    // The checkpoint has the weights, whatever training began with.
    spec.model.init.reset();
    spec.model.head = {};
    spec.data.dataset = prediction.data.dataset;
    spec.data.version.clear();    // of the one that it was trained on
    // Who predicts all samples, or a named part, needs no stored split.
    const bool needs_sides =
        prediction.data.split != PredictedSplit::all && prediction.data.part.empty();
    if (!spec.data.split.id.empty() && !needs_sides) spec.data.split = {};
    spec.train.precision = prediction.precision.value_or(trained.train.precision);
    // Neither curves nor reports are made.
    spec.monitor = {};
    spec.accelerator = prediction.accelerator;
    spec.limits = prediction.limits;
    spec.queue = prediction.queue;
    return spec;
}

std::int64_t global_batch(const PredictionSpec& prediction) {
    return prediction.batch_size_per_core * prediction.accelerator.cores;
}

}    // namespace slipway
