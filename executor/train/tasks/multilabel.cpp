#include "executor/train/tasks/multilabel.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "executor/nn/metrics.h"
#include "executor/train/area_under_curve.h"
#include "executor/train/tasks/label_rows.h"
#include "executor/train/tasks/metric_labels.h"

namespace slipway {

namespace {

constexpr std::size_t named_areas_max = 64;

std::vector<TaskSum> multilabel_sums(const Model& model, const BatchInputs& batch,
                                     ForwardPass& pass, bool accuracy, bool areas) {
    const Tensor logits = model.forward(batch.features, pass);
    const MultilabelSums sums = multilabel_sums(logits, batch.labels, batch.weights);
    std::vector<TaskSum> named{{"loss", sums.loss}, {"labels", label_count(batch)}};
    if (accuracy) named.push_back({"correct", sums.correct});
    // Ranks need all scores at once: the only metric whose state is not a sum on the cores. They
    // are ranked on the host, in double.
    if (areas && !pass.training)
        named.push_back({"scores", label_rows({logits, batch.labels}, batch.weights), true});
    return named;
}

/// Of each label, in their order; none without both kinds of samples.
std::vector<std::optional<double>> areas_of(const MetricSums& sums, std::size_t labels) {
    const LabelRows rows(sums.rows("scores"), labels, 2);
    std::vector<std::optional<double>> areas;
    std::vector<float> scores(rows.count());
    const auto there = std::make_unique<bool[]>(rows.count());
    for (std::size_t label = 0; label < labels; ++label) {
        for (std::size_t i = 0; i < rows.count(); ++i) {
            scores[i] = rows.at(i, 0, label);
            there[i] = rows.at(i, 1, label) >= 0.5F;
        }
        areas.push_back(area_under_curve(scores, {there.get(), rows.count()}));
    }
    return areas;
}

std::optional<double> mean_of(const std::vector<std::optional<double>>& areas) {
    double sum = 0;
    int count = 0;
    for (const auto& area : areas) {
        sum += area.value_or(0);
        count += area ? 1 : 0;
    }
    if (count == 0) return std::nullopt;
    return sum / count;
}

void append_areas(MetricValues& values, const MetricSums& sums,
                  const std::vector<std::string>& names) {
    const auto areas = areas_of(sums, names.size());
    if (const auto mean = mean_of(areas)) values.emplace_back("auc", *mean);
    if (names.size() > named_areas_max) return;
    const std::vector<std::string> spelled = metric_labels(names);
    for (std::size_t label = 0; label < names.size(); ++label)
        if (areas[label]) values.emplace_back("auc_" + spelled[label], *areas[label]);
}

Json details_of(const MetricSums& sums, const std::vector<std::string>& names) {
    const auto areas = areas_of(sums, names.size());
    Json details{{"labels", Json::array()}, {"left_out", Json::array()}};
    for (std::size_t label = 0; label < names.size(); ++label) {
        details["labels"].push_back(
            {{"name", names[label]}, {"auc", areas[label] ? Json(*areas[label]) : Json()}});
        if (areas[label]) continue;
        details["left_out"].push_back(
            fmt::format("the auc of {} is left out: the validation part has only samples with it, "
                        "or only samples without, or scores that are not numbers",
                        names[label]));
    }
    return details;
}

}    // namespace

Task multilabel(const JobSpec& spec, const std::vector<std::string>& names) {
    const bool accuracy = measures(spec, TaskMetric::accuracy);
    const bool areas = measures(spec, TaskMetric::auc);
    Task task{.trace =
                  [=](const Model& model, const BatchInputs& batch, ForwardPass& pass) {
                      return multilabel_sums(model, batch, pass, accuracy, areas);
                  },
              .values =
                  [=](const MetricSums& sums) {
                      MetricValues values{{"loss", sums.mean("loss")}};
                      if (accuracy) values.emplace_back("accuracy", sums.mean("correct"));
                      if (!sums.rows("scores").empty()) append_areas(values, sums, names);
                      return values;
                  }};
    if (areas) task.details = [names](const MetricSums& sums) { return details_of(sums, names); };
    return task;
}

}    // namespace slipway
