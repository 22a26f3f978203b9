#include "server/routes/downsample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace slipway {
namespace {

std::vector<MetricSample> ramp(std::int64_t count) {
    std::vector<MetricSample> samples;
    for (std::int64_t step = 1; step <= count; ++step)
        samples.push_back({.step = step, .epoch = 1, .value = double(step), .time = {}});
    return samples;
}

TEST(Downsample, few_samples_stay_as_they_are) {
    const auto samples = ramp(7);
    const auto buckets = downsample(samples, 7);
    ASSERT_EQ(buckets.size(), 7U);
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        EXPECT_EQ(buckets[i].last.step, samples[i].step);
        EXPECT_EQ(buckets[i].min, samples[i].value);
        EXPECT_EQ(buckets[i].max, samples[i].value);
        EXPECT_EQ(buckets[i].count, 1);
    }
}

// Goal: nothing is hidden: counts add up, the extremes are those of all samples, the end is there.
// Method: every size up to 200 with every resolution up to 50.
TEST(Downsample, no_sample_is_lost) {
    for (std::int64_t count = 1; count <= 200; count += 7) {
        auto samples = ramp(count);
        samples[std::size_t(count) / 2].value = 1e9;
        for (std::size_t resolution = 1; resolution <= 50; ++resolution) {
            const auto buckets = downsample(samples, resolution);
            EXPECT_LE(buckets.size(), std::max(resolution, std::size_t(1)));
            std::int64_t total = 0;
            double max = -1;
            std::int64_t before = 0;
            for (const MetricBucket& bucket : buckets) {
                total += bucket.count;
                max = std::max(max, bucket.max);
                EXPECT_LE(bucket.min, bucket.max);
                EXPECT_GT(bucket.last.step, before);
                before = bucket.last.step;
            }
            EXPECT_EQ(total, count);
            EXPECT_EQ(max, 1e9);
            EXPECT_EQ(buckets.back().last.step, count);
        }
    }
}

TEST(Downsample, values_that_are_no_numbers_are_counted_apart) {
    auto samples = ramp(4);
    samples[0].value = std::nan("");
    samples[3].value = std::numeric_limits<double>::infinity();
    const auto buckets = downsample(samples, 1);
    ASSERT_EQ(buckets.size(), 1U);
    EXPECT_EQ(buckets[0].nonfinite, 2);
    EXPECT_EQ(buckets[0].min, 2);
    EXPECT_EQ(buckets[0].max, 3);
    EXPECT_TRUE(std::isinf(buckets[0].last.value));
}

TEST(Downsample, steps_far_apart_leave_empty_stretches_out) {
    const std::vector<MetricSample> samples{{.step = 0, .epoch = 0, .value = 1, .time = {}},
                                            {.step = 1, .epoch = 0, .value = 2, .time = {}},
                                            {.step = 1000000, .epoch = 9, .value = 3, .time = {}}};
    const auto buckets = downsample(samples, 2);
    ASSERT_EQ(buckets.size(), 2U);
    EXPECT_EQ(buckets[0].count, 2);
    EXPECT_EQ(buckets[1].last.step, 1000000);
    EXPECT_TRUE(downsample({}, 10).empty());
    EXPECT_TRUE(downsample(samples, 0).empty());
}

}    // namespace
}    // namespace slipway
