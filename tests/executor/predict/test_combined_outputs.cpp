// Goal: outputs of several networks are averaged as probabilities, with their spread, and what a
// task takes for the mean gives those probabilities back.
// Method: small rows against formulas written out here; the ends of the range of f32.
#include "executor/predict/combined_outputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace slipway {
namespace {

constexpr double f64_tolerance = 1e-12;
constexpr double rounding_tolerance = 1e-6;    ///< combine_logits rounds to f32

std::vector<OutputRow> rows_of(const std::vector<std::vector<float>>& numbers) {
    return {numbers.begin(), numbers.end()};
}

TEST(CombinedOutputs, of_classes_are_the_mean_and_the_spread_of_softmaxes) {
    const std::vector<std::vector<float>> logits{{0, 1, 2}, {3, 0, 0}};
    const CombinedOutputs outputs = combine(TaskType::classification, rows_of(logits));
    const double first = std::exp(0.0) + std::exp(1.0) + std::exp(2.0);
    const double second = std::exp(3.0) + 2;
    const std::vector<double> a{1 / first, std::exp(1.0) / first, std::exp(2.0) / first};
    const std::vector<double> b{std::exp(3.0) / second, 1 / second, 1 / second};
    for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(outputs.mean[c], (a[c] + b[c]) / 2, f64_tolerance);
        EXPECT_NEAR(outputs.deviation[c], std::abs(a[c] - b[c]) / std::sqrt(2.0), f64_tolerance);
    }
}

TEST(CombinedOutputs, of_labels_and_of_values_are_those_of_each_by_itself) {
    const std::vector<std::vector<float>> numbers{{-1, 4}, {2, 4}, {2, 10}};
    const CombinedOutputs values = combine(TaskType::regression, rows_of(numbers));
    EXPECT_NEAR(values.mean[0], 1, f64_tolerance);
    EXPECT_NEAR(values.mean[1], 6, f64_tolerance);
    EXPECT_NEAR(values.deviation[0], std::sqrt((4.0 + 1 + 1) / 2), f64_tolerance);
    const CombinedOutputs labels = combine(TaskType::multilabel, rows_of(numbers));
    const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    EXPECT_NEAR(labels.mean[0], (sigmoid(-1) + 2 * sigmoid(2)) / 3, f64_tolerance);
}

TEST(CombinedOutputs, of_one_network_are_its_own_without_a_spread) {
    const std::vector<std::vector<float>> logits{{0.5F, -2}};
    const CombinedOutputs outputs = combine(TaskType::classification, rows_of(logits));
    EXPECT_EQ(outputs.deviation, (std::vector<double>{0, 0}));
    EXPECT_NEAR(outputs.mean[0] + outputs.mean[1], 1, f64_tolerance);
    std::vector<float> combined(2);
    combine_logits(TaskType::multilabel, rows_of(logits), combined);
    EXPECT_NEAR(combined[0], 0.5, rounding_tolerance);
    EXPECT_NEAR(combined[1], -2, rounding_tolerance);
}

TEST(CombinedLogits, give_the_mean_probabilities_back) {
    const std::vector<std::vector<float>> logits{{0, 1, 2}, {3, 0, 0}, {-5, 5, 0}};
    for (const TaskType task : {TaskType::classification, TaskType::multilabel}) {
        std::vector<float> combined(3);
        combine_logits(task, rows_of(logits), combined);
        const std::vector<OutputRow> one{combined};
        const CombinedOutputs back = combine(task, one), mean = combine(task, rows_of(logits));
        for (std::size_t i = 0; i < 3; ++i)
            EXPECT_NEAR(back.mean[i], mean.mean[i], rounding_tolerance);
    }
    std::vector<float> values(3);
    combine_logits(TaskType::regression, rows_of(logits), values);
    EXPECT_NEAR(values[0], -2.0 / 3, rounding_tolerance);
}

// The probability of the second class is e^-800, which is 0 in double.
TEST(CombinedLogits, of_probabilities_that_underflow_stay_finite) {
    const std::vector<std::vector<float>> logits{{400, -400}, {400, -400}};
    std::vector<float> combined(2);
    combine_logits(TaskType::classification, rows_of(logits), combined);
    EXPECT_NEAR(combined[1], -800, 1e-3);
    combine_logits(TaskType::multilabel, rows_of(logits), combined);
    EXPECT_NEAR(combined[0], 400, 1e-3);
    EXPECT_NEAR(combined[1], -400, 1e-3);
}

TEST(CombinedOutputs, of_a_network_that_is_lost_are_no_numbers) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<std::vector<float>> logits{{0, 1}, {nan, 1}};
    EXPECT_TRUE(std::isnan(combine(TaskType::classification, rows_of(logits)).mean[1]));
    const CombinedOutputs labels = combine(TaskType::multilabel, rows_of(logits));
    EXPECT_TRUE(std::isnan(labels.mean[0]));
    EXPECT_FALSE(std::isnan(labels.mean[1])) << "labels have nothing to do with each other";
    std::vector<float> combined(2);
    combine_logits(TaskType::classification, rows_of(logits), combined);
    EXPECT_TRUE(std::isnan(combined[0]) && std::isnan(combined[1]));
}

}    // namespace
}    // namespace slipway
