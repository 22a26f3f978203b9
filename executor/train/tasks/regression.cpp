#include "executor/train/tasks/regression.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "api/base/metric_value.h"
#include "executor/nn/metrics.h"
#include "executor/train/tasks/label_rows.h"

namespace slipway {

namespace {

std::vector<TaskSum> regression_sums(const Model& model, const BatchInputs& batch,
                                     ForwardPass& pass, bool absolute, bool explained) {
    const Tensor outputs = model.forward(batch.features, pass);
    const RegressionSums sums = regression_sums(outputs, batch.labels, batch.weights);
    std::vector<TaskSum> named{{"loss", reduce(sums.squares, {0}, Reduction::add)},
                               {"labels", label_count(batch)}};
    if (absolute) named.push_back({"absolute", reduce(sums.absolute, {0}, Reduction::add)});
    if (!explained || pass.training) return named;
    named.push_back({"squares", sums.squares});
    // Distances from a mean that is known only at the end: sums in f32 would lose them beside
    // labels far from zero.
    named.push_back({"targets", label_rows({batch.labels}, batch.weights), true});
    return named;
}

struct LabelError {
    double mse = 0;
    std::optional<double> r2;
};

std::vector<LabelError> errors_of(const MetricSums& sums, std::size_t labels) {
    const LabelRows rows(sums.rows("targets"), labels, 1);
    const auto count = double(rows.count());
    std::vector<LabelError> errors(labels);
    for (std::size_t label = 0; label < labels; ++label) {
        double sum = 0;
        for (std::size_t i = 0; i < rows.count(); ++i)
            sum += double(rows.at(i, 0, label));
        const double mean = sum / count;
        double total = 0;
        for (std::size_t i = 0; i < rows.count(); ++i) {
            const double distance = double(rows.at(i, 0, label)) - mean;
            total += distance * distance;
        }
        const double squares = sums.of("squares")[label];
        errors[label].mse = squares / count;
        if (total > 0) errors[label].r2 = 1 - squares / total;
    }
    return errors;
}

void append_explained(MetricValues& values, const std::vector<LabelError>& errors) {
    double sum = 0;
    int count = 0;
    for (const LabelError& error : errors) {
        sum += error.r2.value_or(0);
        count += error.r2 ? 1 : 0;
    }
    if (count > 0) values.emplace_back("r2", sum / count);
}

Json label_json(const LabelError& error, const std::string& name) {
    Json json{{"name", name}, {"r2", nullptr}};
    Json nonfinite = Json::object();
    put_named_value(json, nonfinite, "mse", error.mse);
    if (error.r2) put_named_value(json, nonfinite, "r2", *error.r2);
    if (!nonfinite.empty()) json["nonfinite"] = std::move(nonfinite);
    return json;
}

Json details_of(const std::vector<LabelError>& errors, const std::vector<std::string>& names) {
    Json details{{"labels", Json::array()}, {"left_out", Json::array()}};
    for (std::size_t label = 0; label < names.size(); ++label) {
        details["labels"].push_back(label_json(errors[label], names[label]));
        if (errors[label].r2) continue;
        details["left_out"].push_back(
            fmt::format("the r2 of {} is left out: it has one value in the whole validation part",
                        names[label]));
    }
    return details;
}

}    // namespace

Task regression(const JobSpec& spec, const std::vector<std::string>& names) {
    const bool absolute = measures(spec, TaskMetric::mae);
    const bool explained = measures(spec, TaskMetric::r2);
    Task task{.trace =
                  [=](const Model& model, const BatchInputs& batch, ForwardPass& pass) {
                      return regression_sums(model, batch, pass, absolute, explained);
                  },
              .values =
                  [=](const MetricSums& sums) {
                      MetricValues values{{"loss", sums.mean("loss")}};
                      if (absolute) values.emplace_back("mae", sums.mean("absolute"));
                      if (!sums.rows("targets").empty())
                          append_explained(values, errors_of(sums, names.size()));
                      return values;
                  }};
    if (explained) {
        task.details = [names](const MetricSums& sums) {
            return details_of(errors_of(sums, names.size()), names);
        };
    }
    return task;
}

}    // namespace slipway
