#include "executor/train/pace.h"

#include <gtest/gtest.h>

#include "tests/support/hand_clock.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;

TEST(Pace, before_the_first_step_nobody_knows_what_time_is_left) {
    HandClock clock;
    Pace pace(clock);
    clock.advance(3s);
    Progress progress{.steps_total = 100};
    pace.describe(progress);
    EXPECT_FALSE(progress.eta_s);
    EXPECT_EQ(progress.samples_per_s, 0);
}

TEST(Pace, steps_that_are_left_take_as_long_as_those_of_this_run) {
    HandClock clock;
    Pace pace(clock);
    for (int step = 0; step < 4; ++step)
        pace.step(32);
    clock.advance(2s);
    Progress progress{.step = 54, .steps_total = 100};    // 50 of them before this run
    pace.describe(progress);
    EXPECT_DOUBLE_EQ(*progress.eta_s, 46 * 0.5);
    EXPECT_DOUBLE_EQ(progress.samples_per_s, 64);
    progress.step = progress.steps_total;
    pace.describe(progress);
    EXPECT_EQ(progress.eta_s, 0);
}

}    // namespace
}    // namespace slipway
