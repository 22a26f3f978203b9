#include "executor/train/tasks/classification.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "executor/nn/loss.h"
#include "executor/nn/metrics.h"
#include "executor/train/train_error.h"

namespace slipway {

namespace {

constexpr std::int64_t top = 5;
constexpr std::int64_t matrix_classes_max = 1000;

/// What the job wants besides the loss.
struct Wanted {
    bool accuracy, top5, matrix;
    double smoothing;
};

/// Labels of mixed samples are shares of classes, f32 [n, classes].
bool are_shares(const BatchInputs& batch) {
    return batch.labels.dims().size() == 2;
}

Tensor loss_of(const Tensor& logits, const BatchInputs& batch, double smoothing) {
    const Tensor losses = are_shares(batch)
                              ? soft_cross_entropy(logits, batch.labels, smoothing)
                              : smoothed_cross_entropy(logits, batch.labels, smoothing);
    return reduce(losses * batch.weights, {0}, Reduction::add);
}

std::vector<TaskSum> class_sums(const Model& model, const BatchInputs& batch, ForwardPass& pass,
                                const Wanted& wanted) {
    const Tensor logits = model.forward(batch.features, pass);
    const Tensor labels = are_shares(batch) ? argmax(batch.labels) : batch.labels;
    const ClassificationSums sums = classification_sums(logits, labels, batch.weights);
    const double smoothing = pass.training ? wanted.smoothing : 0;
    const bool plain = smoothing == 0 && !are_shares(batch);
    std::vector<TaskSum> named{
        {"loss", plain ? sums.loss : loss_of(logits, batch, smoothing)},
        {"labels", reduce(batch.weights, {0}, Reduction::add)},
    };
    if (wanted.accuracy) named.push_back({"correct", sums.correct});
    if (wanted.top5) named.push_back({"top5_hits", top_hits(logits, labels, top, batch.weights)});
    if (pass.training || !wanted.matrix) return named;
    if (logits.dims()[1] > matrix_classes_max) {
        throw TrainError("spec_error",
                         fmt::format("task.metrics has confusion_matrix, which is for at most {} "
                                     "classes, and these are {}; leave it out",
                                     matrix_classes_max, logits.dims()[1]));
    }
    named.push_back({"confusion", confusion_counts(logits, labels, batch.weights)});
    return named;
}

/// Outputs beyond the dataset's classes are called by their numbers.
Json matrix_of(const MetricSums& sums, const std::vector<std::string>& names) {
    const std::span<const double> counts = sums.of("confusion");
    const auto classes = std::size_t(std::lround(std::sqrt(double(counts.size()))));
    Json matrix{{"classes", Json::array()}, {"counts", Json::array()}};
    for (std::size_t label = 0; label < classes; ++label) {
        matrix["classes"].push_back(label < names.size() ? names[label] : std::to_string(label));
        Json row = Json::array();
        for (const double count : counts.subspan(label * classes, classes))
            row.push_back(std::llround(count));
        matrix["counts"].push_back(std::move(row));
    }
    return {{"confusion_matrix", std::move(matrix)}};
}

}    // namespace

Task classification(const JobSpec& spec, const std::vector<std::string>& names) {
    const Wanted wanted{.accuracy = measures(spec, TaskMetric::accuracy),
                        .top5 = measures(spec, TaskMetric::top5_accuracy),
                        .matrix = measures(spec, TaskMetric::confusion_matrix),
                        .smoothing = spec.task.label_smoothing};
    Task task{
        .trace = [wanted](const Model& model, const BatchInputs& batch,
                          ForwardPass& pass) { return class_sums(model, batch, pass, wanted); },
        .values =
            [wanted](const MetricSums& sums) {
                MetricValues values{{"loss", sums.mean("loss")}};
                if (wanted.accuracy) values.emplace_back("accuracy", sums.mean("correct"));
                if (wanted.top5) values.emplace_back("top5_accuracy", sums.mean("top5_hits"));
                return values;
            }};
    if (wanted.matrix)
        task.details = [names](const MetricSums& sums) { return matrix_of(sums, names); };
    return task;
}

}    // namespace slipway
