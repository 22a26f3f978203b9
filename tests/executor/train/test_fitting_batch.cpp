#include "executor/train/fitting_batch.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

/// Peaks of one kind, and how often they were asked for.
struct Peaks {
    std::function<std::int64_t(std::int64_t)> peak;
    int plans = 0;

    std::int64_t largest(std::int64_t asked, std::int64_t bytes_max) {
        return largest_fitting_batch(asked, bytes_max, [this](std::int64_t batch) {
            ++plans;
            return peak(batch);
        });
    }
};

TEST(FittingBatch, on_a_line_it_is_found_in_a_few_plans) {
    for (const std::int64_t bytes_max : {1100, 5000, 31'000, 64'999, 65'999}) {
        Peaks line{[](std::int64_t batch) { return 1000 + batch * 1000; }};
        const std::int64_t largest = (bytes_max - 1000) / 1000;
        EXPECT_EQ(line.largest(65, bytes_max), std::min<std::int64_t>(largest, 64)) << bytes_max;
        EXPECT_LE(line.plans, 6) << bytes_max;
    }
}

TEST(FittingBatch, stays_with_multiples_of_eight_as_long_as_one_fits) {
    Peaks line{[](std::int64_t batch) { return batch * 10; }};
    EXPECT_EQ(line.largest(512, 1005), 96);
    EXPECT_EQ(line.largest(512, 80), 8);
    EXPECT_EQ(line.largest(512, 79), 7);
    EXPECT_EQ(line.largest(8, 79), 7);
    EXPECT_EQ(line.largest(8, 9), 0);
}

TEST(FittingBatch, nothing_fits_when_one_sample_does_not) {
    Peaks line{[](std::int64_t batch) { return 500 + batch; }};
    EXPECT_EQ(line.largest(64, 500), 0);
    EXPECT_EQ(line.largest(1, 500), 0);
    EXPECT_LE(line.plans, 4);
}

TEST(FittingBatch, a_peak_that_grows_in_jumps_is_found_too) {
    const auto jumps = [](std::int64_t batch) {
        return batch * batch / 100 * 1000 + (batch > 1000 ? 1'000'000 : 0);
    };
    for (std::int64_t bytes_max = 0; bytes_max < 40'000'000; bytes_max += 1'234'567) {
        Peaks peaks{jumps};
        const std::int64_t found = peaks.largest(4095, bytes_max);
        ASSERT_GE(found, 1);
        EXPECT_LE(jumps(found), bytes_max);
        if (found < 4094) {
            EXPECT_GT(jumps(found + 1), bytes_max);
        }
        EXPECT_LE(peaks.plans, 18);
    }
}

}    // namespace
}    // namespace slipway
