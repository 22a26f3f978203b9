#include "executor/train/tasks/classification.h"

#include <algorithm>

#include "executor/nn/loss.h"

namespace slipway {

Task classification(const JobSpec& spec) {
    const bool has_accuracy = std::ranges::count(spec.task.metrics, TaskMetric::accuracy) > 0;
    return {.trace =
                [has_accuracy](const Model& model, const BatchLeaves& batch, ForwardPass& pass) {
                    const ClassificationSums sums = classification_sums(
                        model.forward(batch.features, pass), batch.labels, batch.weights);
                    std::vector<TaskSum> named{
                        {"loss", sums.loss},
                        {"labels", reduce(batch.weights, {0}, Reduction::add)},
                    };
                    if (has_accuracy) named.push_back({"correct", sums.correct});
                    return named;
                },
            .values =
                [has_accuracy](const MetricSums& sums) {
                    MetricValues values{{"loss", sums.mean("loss")}};
                    if (has_accuracy) values.emplace_back("accuracy", sums.mean("correct"));
                    return values;
                }};
}

}    // namespace slipway
