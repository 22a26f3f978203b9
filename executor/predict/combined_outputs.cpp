#include "executor/predict/combined_outputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "api/base/check.h"

// Probabilities are averaged, not logits: the mean of probabilities is again a distribution, its
// loss is never above the mean of the networks' losses (Jensen's inequality), and one network that
// is very sure cannot outvote the others. Logits of different networks have no common scale.
namespace slipway {

namespace {

/// log(1 / (1 + exp(-x))), exact for large |x|.
double log_sigmoid(double x) {
    return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
}

/// log of the sum of exp(values); of -infinity alone that.
double log_sum_exp(std::span<const double> values) {
    const double largest = *std::ranges::max_element(values);
    if (!std::isfinite(largest)) return largest;
    double sum = 0;
    for (const double value : values)
        sum += std::exp(value - largest);
    return largest + std::log(sum);
}

std::vector<double> log_softmax(OutputRow row) {
    std::vector<double> logits(row.begin(), row.end());
    // max_element passes over a NaN.
    if (std::ranges::any_of(row, [](float x) { return std::isnan(x); }))
        return std::vector<double>(row.size(), std::numeric_limits<double>::quiet_NaN());
    const double sum = log_sum_exp(logits);
    for (double& logit : logits)
        logit -= sum;
    return logits;
}

/// As a prediction of one network has them: exp(x - max) / sum.
std::vector<double> softmax(OutputRow row) {
    std::vector<double> shares;
    const double largest = double(*std::ranges::max_element(row));
    double sum = 0;
    for (const float logit : row) {
        shares.push_back(std::exp(double(logit) - largest));
        sum += shares.back();
    }
    for (double& share : shares)
        share /= sum;
    return shares;
}

std::vector<double> sigmoids(OutputRow row) {
    std::vector<double> shares;
    for (const float logit : row)
        shares.push_back(1 / (1 + std::exp(-double(logit))));
    return shares;
}

std::vector<double> values_of(OutputRow row) {
    return {row.begin(), row.end()};
}

/// The logarithm of the mean of what `logs` are the logarithms of.
double log_mean(std::span<const double> logs) {
    if (std::ranges::any_of(logs, [](double x) { return std::isnan(x); }))
        return std::numeric_limits<double>::quiet_NaN();
    return log_sum_exp(logs) - std::log(double(logs.size()));
}

void combine_classes(std::span<const OutputRow> rows, std::span<float> combined) {
    std::vector<std::vector<double>> logs;
    for (const OutputRow row : rows)
        logs.push_back(log_softmax(row));
    std::vector<double> of_class(rows.size());
    for (std::size_t c = 0; c < combined.size(); ++c) {
        std::ranges::transform(logs, of_class.begin(), [c](const auto& row) { return row[c]; });
        combined[c] = float(log_mean(of_class));
    }
}

void combine_labels(std::span<const OutputRow> rows, std::span<float> combined) {
    std::vector<double> there(rows.size()), absent(rows.size());
    for (std::size_t label = 0; label < combined.size(); ++label) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            there[i] = log_sigmoid(double(rows[i][label]));
            absent[i] = log_sigmoid(-double(rows[i][label]));
        }
        combined[label] = float(log_mean(there) - log_mean(absent));
    }
}

void combine_values(std::span<const OutputRow> rows, std::span<float> combined) {
    const CombinedOutputs outputs = combine(TaskType::regression, rows);
    std::ranges::transform(outputs.mean, combined.begin(), [](double x) { return float(x); });
}

struct CombinationRow {
    TaskType task;
    std::vector<double> (*probabilities)(OutputRow row);
    void (*logits)(std::span<const OutputRow> rows, std::span<float> combined);
};

constexpr std::array combinations{
    CombinationRow{TaskType::classification, softmax, combine_classes},
    CombinationRow{TaskType::multilabel, sigmoids, combine_labels},
    CombinationRow{TaskType::regression, values_of, combine_values},
};

const CombinationRow& combination_of(TaskType task) {
    const auto found = std::ranges::find(combinations, task, &CombinationRow::task);
    check(found != combinations.end(), "the outputs of such a task can be averaged");
    return *found;
}

}    // namespace

CombinedOutputs combine(TaskType task, std::span<const OutputRow> rows) {
    std::vector<std::vector<double>> each;
    for (const OutputRow row : rows)
        each.push_back(combination_of(task).probabilities(row));
    const auto networks = double(rows.size());
    CombinedOutputs combined;
    for (std::size_t i = 0; i < rows.front().size(); ++i) {
        double sum = 0, squares = 0;
        for (const auto& one : each)
            sum += one[i];
        const double mean = sum / networks;
        for (const auto& one : each)
            squares += (one[i] - mean) * (one[i] - mean);
        combined.mean.push_back(mean);
        combined.deviation.push_back(rows.size() > 1 ? std::sqrt(squares / (networks - 1)) : 0);
    }
    return combined;
}

void combine_logits(TaskType task, std::span<const OutputRow> rows, std::span<float> combined) {
    combination_of(task).logits(rows, combined);
}

}    // namespace slipway
