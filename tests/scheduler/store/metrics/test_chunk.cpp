#include "scheduler/store/metrics/chunk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "api/base/error.h"

namespace slipway::store {

namespace {

using std::chrono::milliseconds;

Instant at(std::int64_t time_ms) {
    return Instant(milliseconds(time_ms));
}

/// NaN is like NaN.
void expect_same(const std::vector<MetricSample>& got, const std::vector<MetricSample>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].step, wanted[i].step) << i;
        EXPECT_EQ(got[i].epoch, wanted[i].epoch) << i;
        EXPECT_EQ(got[i].attempt, wanted[i].attempt) << i;
        EXPECT_EQ(got[i].time, wanted[i].time) << i;
        if (std::isnan(wanted[i].value)) {
            EXPECT_TRUE(std::isnan(got[i].value)) << i;
        } else {
            EXPECT_EQ(got[i].value, wanted[i].value) << i;
        }
    }
}

/// Steps 10, 20, …; 64 samples came together each time.
std::vector<MetricSample> even_curve(std::int64_t count, double scale) {
    std::vector<MetricSample> samples;
    for (std::int64_t i = 0; i < count; ++i)
        samples.push_back({.step = 10 * (i + 1),
                           .epoch = i / 100,
                           .value = scale * std::sin(double(i)),
                           .attempt = 1 + int(i / 300),
                           .time = at(1'700'000'000'000 + 110 * (i / 64))});
    return samples;
}

TEST(Chunk, samples_come_back_as_they_were) {
    for (const std::int64_t count : {1, 2, 63, 512, 5000})
        expect_same(decode_samples(encode_samples(even_curve(count, 1.0 / 3))),
                    even_curve(count, 1.0 / 3));
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    const std::vector<MetricSample> extremes{
        {least, 0, std::nan(""), 1, at(0)},
        {-1, most, HUGE_VAL, std::numeric_limits<int>::max(), at(-5)},
        {0, least, -HUGE_VAL, 1, at(9'000'000'000'000)},
        {most, 0, std::numeric_limits<double>::max(), 2, at(0)},
    };
    expect_same(decode_samples(encode_samples(extremes)), extremes);
}

TEST(Chunk, values_that_are_floats_take_four_bytes) {
    std::vector<MetricSample> samples = even_curve(512, 1);
    EXPECT_LT(encode_samples(samples).size(), 512 * 8.3);
    for (MetricSample& sample : samples)
        sample.value = double(float(sample.value));
    samples[7].value = std::nan("");
    samples[8].value = -HUGE_VAL;
    EXPECT_LT(encode_samples(samples).size(), 512 * 4.3);
    expect_same(decode_samples(encode_samples(samples)), samples);
    // The worst case: every point came alone, at odd times.
    std::mt19937 random(5);
    for (MetricSample& sample : samples) {
        sample.value = std::uniform_real_distribution<double>()(random);
        sample.time += milliseconds(random() % 3000 + std::uint32_t(sample.step) * 100);
    }
    EXPECT_LT(encode_samples(samples).size(), 512 * 12);
}

TEST(Chunk, a_summary_comes_back_as_it_was) {
    MetricBucket all;
    for (const MetricSample& sample : even_curve(512, 4))
        add_later(all, to_bucket(sample));
    const std::string bytes = encode_summary(all);
    ASSERT_EQ(bytes.size(), summary_bytes);
    const std::vector<MetricBucket> twice = decode_summaries(bytes + bytes);
    ASSERT_EQ(twice.size(), 2U);
    EXPECT_EQ(twice[1].last, all.last);
    EXPECT_EQ(twice[1].min, all.min);
    EXPECT_EQ(twice[1].max, all.max);
    EXPECT_EQ(twice[1].mean, all.mean);
    EXPECT_EQ(twice[1].count, 512);
    EXPECT_EQ(twice[1].nonfinite, 0);
    EXPECT_THROW(decode_summaries(bytes + "x"), Error);
}

TEST(Chunk, a_bucket_is_the_same_however_it_is_added_up) {
    MetricBucket left;
    MetricBucket right;
    const auto infinite = to_bucket({.step = 1, .value = HUGE_VAL});
    add_later(left, infinite);
    EXPECT_EQ(left.finite(), 0);
    add_later(left, to_bucket({.step = 2, .value = 1e308}));
    add_later(right, to_bucket({.step = 3, .value = 1e308}));
    add_later(right, infinite);
    add_later(left, right);
    EXPECT_EQ(left.count, 4);
    EXPECT_EQ(left.nonfinite, 2);
    EXPECT_NEAR(left.mean, 1e308, 1e293) << "no sum overflows";
    EXPECT_EQ(left.min, 1e308);
    EXPECT_EQ(left.max, 1e308);
}

// Goal: whatever the bytes are, an error is the worst that comes of them.
TEST(Chunk, damaged_bytes_are_an_error) {
    const std::string whole = encode_samples(even_curve(100, 0.1));
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_THROW(decode_samples(std::string_view(whole).substr(0, size)), Error) << size;
    EXPECT_THROW(decode_samples(whole + '\0'), Error);
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
        std::string damaged = whole;
        for (int changes = 0; changes < 3; ++changes)
            damaged[random() % damaged.size()] = char(random());
        try {
            EXPECT_LE(decode_samples(damaged).size(), damaged.size() / 4);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::data_loss);
        }
    }
}

}    // namespace

}    // namespace slipway::store
