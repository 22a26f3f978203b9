// Goal: what is said of folds is what the formulas of the headers say.
// Method: numbers worked out by hand and by numerical integration; random folds against the
// definitions written out again.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "scheduler/search/fold_comparison.h"
#include "scheduler/search/fold_summary.h"
#include "scheduler/search/student_t.h"

namespace slipway::search {
namespace {

TEST(StudentT, has_the_values_of_numerical_integration) {
    const struct {
        double t, degrees, p;
    } cases[] = {{0.5, 1, 0.6475836176504315},   {1.0, 2, 0.7886751345948101},
                 {2.776445, 4, 0.9749999973090}, {-2.5, 9, 0.016930913841498862},
                 {10, 4, 0.9997189981886407},    {1.96, 99, 0.973596443124534},
                 {0.001, 3, 0.5003675525152695}};
    for (const auto& one : cases)
        EXPECT_NEAR(student_t_cdf(one.t, one.degrees), one.p, 1e-10) << one.t;
}

TEST(StudentT, its_quantile_is_its_inverse) {
    for (const double degrees : {1.0, 2.0, 4.0, 9.0, 49.0, 999.0})
        for (const double p : {0.001, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9999})
            EXPECT_NEAR(student_t_cdf(student_t_quantile(p, degrees), degrees), p, 1e-9);
    EXPECT_NEAR(student_t_quantile(0.975, 4), 2.7764451, 1e-6);    // a table of every textbook
    EXPECT_NEAR(student_t_quantile(0.975, 9), 2.2621572, 1e-6);
}

TEST(FoldSummary, has_the_numbers_worked_out_by_hand) {
    const FoldValue values[] = {{0, 80, 10, 0.8}, {1, 80, 30, 0.6}, {2, 80, 20, 1.0}};
    const FoldStatistics summary = summarize_folds(values);
    EXPECT_EQ(summary.folds, 3);
    EXPECT_NEAR(*summary.mean, 0.8, 1e-15);
    EXPECT_NEAR(*summary.std, 0.2, 1e-15);
    EXPECT_NEAR(*summary.standard_error, 0.2 / std::sqrt(3.0), 1e-15);
    EXPECT_NEAR(*summary.corrected_error, 0.2 * std::sqrt(1.0 / 3 + 60.0 / 240), 1e-15);
    EXPECT_NEAR(*summary.weighted_mean, 46.0 / 60, 1e-15);
    const double m = 46.0 / 60;
    const double squares =
        std::pow(10 * (0.8 - m), 2) + std::pow(30 * (0.6 - m), 2) + std::pow(20 * (1.0 - m), 2);
    EXPECT_NEAR(*summary.weighted_standard_error, std::sqrt(1.5 * squares) / 60, 1e-15);
    EXPECT_EQ(*summary.min, 0.6);
    EXPECT_EQ(*summary.max, 1.0);
}

TEST(FoldSummary, equal_weights_change_nothing) {
    std::mt19937 draw(1);
    for (int round = 0; round < 100; ++round) {
        std::vector<FoldValue> values;
        for (std::int64_t fold = 0; fold < 2 + round % 9; ++fold)
            values.push_back({fold, 90, 10, double(draw()) / 1e9});
        const FoldStatistics summary = summarize_folds(values);
        EXPECT_NEAR(*summary.weighted_mean, *summary.mean, 1e-12);
        EXPECT_NEAR(*summary.weighted_standard_error, *summary.standard_error, 1e-12);
    }
}

TEST(FoldSummary, says_nothing_where_nothing_can_be_said) {
    EXPECT_FALSE(summarize_folds({}).mean);
    const FoldValue one[] = {{0, 80, 20, 0.5}};
    EXPECT_EQ(summarize_folds(one).mean, 0.5);
    EXPECT_FALSE(summarize_folds(one).std);
    const FoldValue diverged[] = {{0, 80, 20, 0.5},
                                  {1, 80, 20, std::numeric_limits<double>::quiet_NaN()}};
    EXPECT_EQ(summarize_folds(diverged).nonfinite, 1);
    EXPECT_FALSE(summarize_folds(diverged).mean);
}

TEST(FoldComparison, is_the_corrected_resampled_t_test) {
    // Differences 0.02, 0.04, 0.00, 0.03, 0.01: mean 0.02, std sqrt(0.00025).
    const PairedFold folds[] = {{0, 80, 20, 0.90, 0.92},
                                {1, 80, 20, 0.88, 0.92},
                                {2, 80, 20, 0.91, 0.91},
                                {3, 80, 20, 0.89, 0.92},
                                {4, 80, 20, 0.90, 0.91}};
    const FoldComparison compared = compare_folds(folds, MetricMode::max);
    EXPECT_EQ(compared.second_better, 4);
    EXPECT_EQ(compared.first_better, 0);
    EXPECT_NEAR(*compared.mean_difference, 0.02, 1e-12);
    EXPECT_NEAR(*compared.std, std::sqrt(0.00025), 1e-12);
    const double error = std::sqrt(0.00025 * (0.2 + 0.25));
    EXPECT_NEAR(*compared.standard_error, error, 1e-12);
    EXPECT_NEAR(*compared.t, 0.02 / error, 1e-9);
    EXPECT_NEAR(*compared.p_value, 2 * (1 - student_t_cdf(0.02 / error, 4)), 1e-12);
    EXPECT_NEAR(*compared.low, 0.02 - 2.7764451 * error, 1e-8);
    EXPECT_NEAR(*compared.high, 0.02 + 2.7764451 * error, 1e-8);
    EXPECT_EQ(compare_folds(folds, MetricMode::min).first_better, 4);
}

TEST(FoldComparison, chance_is_seldom_called_a_difference) {
    // Folds of two equal configurations differ by noise that folds share in part, as theirs do.
    std::mt19937 draw(7);
    std::normal_distribution<double> noise;
    int called = 0;
    for (int round = 0; round < 2000; ++round) {
        std::vector<PairedFold> folds;
        const double shared = noise(draw) * std::sqrt(0.2);    // correlation n_val / n_all
        for (std::int64_t fold = 0; fold < 5; ++fold)
            folds.push_back({fold, 80, 20, 0, shared + noise(draw) * std::sqrt(0.8)});
        called += *compare_folds(folds, MetricMode::max).p_value < 0.05 ? 1 : 0;
    }
    EXPECT_NEAR(called / 2000.0, 0.05, 0.015);
}

TEST(FoldComparison, equal_differences_have_no_spread) {
    const PairedFold same[] = {{0, 80, 20, 0.5, 0.5}, {1, 80, 20, 0.25, 0.25}};
    EXPECT_EQ(compare_folds(same, MetricMode::min).p_value, 1);
    const PairedFold shifted[] = {{0, 80, 20, 0.5, 0.75}, {1, 80, 20, 0.25, 0.5}};
    EXPECT_EQ(compare_folds(shifted, MetricMode::min).p_value, 0);
    EXPECT_FALSE(compare_folds(shifted, MetricMode::min).t);
    EXPECT_FALSE(compare_folds({}, MetricMode::min).mean_difference);
}

}    // namespace
}    // namespace slipway::search
