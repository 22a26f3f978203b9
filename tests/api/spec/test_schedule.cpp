#include "api/spec/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace slipway {
namespace {

TEST(Schedule, constant_stays) {
    EXPECT_EQ(lr_at({}, 0.1, 0), 0.1);
    EXPECT_EQ(lr_at({}, 0.1, 1000), 0.1);
}

TEST(Schedule, step_multiplies_once_per_period) {
    const Schedule schedule{.kind = ScheduleKind::step, .period_steps = 10, .gamma = 0.5};
    EXPECT_EQ(lr_at(schedule, 0.8, 9), 0.8);
    EXPECT_EQ(lr_at(schedule, 0.8, 10), 0.4);
    EXPECT_EQ(lr_at(schedule, 0.8, 29), 0.2);
}

TEST(Schedule, cosine_warms_up_and_ends_at_its_minimum) {
    const Schedule schedule{
        .kind = ScheduleKind::cosine, .steps_total = 110, .warmup_steps = 10, .min_lr = 0.01};
    EXPECT_DOUBLE_EQ(lr_at(schedule, 1.0, 0), 0.1);
    EXPECT_DOUBLE_EQ(lr_at(schedule, 1.0, 9), 1.0);
    EXPECT_DOUBLE_EQ(lr_at(schedule, 1.0, 10), 1.0);
    EXPECT_NEAR(lr_at(schedule, 1.0, 60), 0.505, 1e-12);
    EXPECT_NEAR(lr_at(schedule, 1.0, 110), 0.01, 1e-12);
}

TEST(Schedule, linear_ends_at_zero_and_stays_there) {
    const Schedule schedule{.kind = ScheduleKind::linear, .steps_total = 100};
    EXPECT_DOUBLE_EQ(lr_at(schedule, 1.0, 25), 0.75);
    EXPECT_DOUBLE_EQ(lr_at(schedule, 1.0, 100), 0.0);
    EXPECT_DOUBLE_EQ(lr_at(schedule, 1.0, 200), 0.0);
}

// Goal: the beginning of a longer training has the rates of the longer one.
TEST(Schedule, of_a_length_of_its_own_is_that_of_the_longer_job) {
    JobSpec whole;
    whole.train.epochs = 6;
    for (const ScheduleName name :
         {ScheduleName::cosine, ScheduleName::linear, ScheduleName::one_cycle}) {
        whole.train.schedule.name = name;
        JobSpec part = whole;
        part.train.epochs = 2;
        part.train.schedule.length = 6;
        EXPECT_EQ(steps_of(part, 10), 20);
        for (std::int64_t step = 0; step < 20; ++step)
            EXPECT_EQ(lr_at(schedule_of(part, 10), 0.1, step),
                      lr_at(schedule_of(whole, 10), 0.1, step));
    }
    JobSpec steps;
    steps.train.epochs = std::nullopt;
    steps.train.steps = 30;
    steps.train.schedule = {.name = ScheduleName::linear, .length = 300};
    EXPECT_EQ(schedule_of(steps, 10).steps_total, 300);
    EXPECT_EQ(steps_of(steps, 10), 30);
}

TEST(Schedule, a_warm_up_longer_than_the_run_divides_by_nothing) {
    const Schedule schedule{.kind = ScheduleKind::linear, .steps_total = 5, .warmup_steps = 10};
    for (std::int64_t step = 0; step < 20; ++step) {
        EXPECT_TRUE(std::isfinite(lr_at(schedule, 1.0, step)));
    }
}

}    // namespace
}    // namespace slipway
