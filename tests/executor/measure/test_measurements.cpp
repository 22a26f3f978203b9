#include "executor/measure/measurements.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

Tick at(int milliseconds) {
    return Tick(std::chrono::milliseconds(milliseconds));
}

TEST(Measurements, without_any_all_is_zero) {
    const MeasurementSummary summary = Measurements().summary();
    EXPECT_EQ(summary.count, 0);
    EXPECT_EQ(summary.rate, 0);
    EXPECT_EQ(summary.at[4], 0);
}

TEST(Measurements, one_is_every_percentile_and_has_no_rate) {
    Measurements measurements;
    measurements.add(3, at(10));
    const MeasurementSummary summary = measurements.summary();
    for (const double value : summary.at)
        EXPECT_EQ(value, 3);
    EXPECT_EQ(summary.rate, 0);
}

// Percentile p of n sorted samples is the one at place p * n / 100, rounded down.
TEST(Measurements, percentiles_are_measurements_themselves) {
    Measurements measurements;
    for (int i = 100; i > 0; --i)
        measurements.add(i, at(100 - i));
    const MeasurementSummary summary = measurements.summary();
    for (std::size_t i = 0; i < percentiles.size(); ++i)
        EXPECT_EQ(summary.at[i], percentiles[i] + 1);
    EXPECT_DOUBLE_EQ(summary.rate, 100 / 0.099);
    EXPECT_DOUBLE_EQ(summary.value_rate, 5050 / 0.099);
}

TEST(Measurements, the_newest_1024_are_kept_and_all_are_counted) {
    Measurements measurements;
    for (int i = 0; i < 5000; ++i)
        measurements.add(i, at(i));
    const MeasurementSummary summary = measurements.summary();
    EXPECT_EQ(summary.count, 5000);
    EXPECT_EQ(summary.total, 4999.0 * 5000 / 2);
    EXPECT_EQ(summary.at[0], 5000 - 1024 + 10);
}

}    // namespace
}    // namespace slipway
