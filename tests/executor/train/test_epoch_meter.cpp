#include "executor/train/epoch_meter.h"

#include <gtest/gtest.h>

#include "tests/support/hand_clock.h"

namespace slipway {
namespace {

TEST(EpochMeter, tells_training_from_evaluating_and_saving_epoch_by_epoch) {
    HandClock clock;
    EpochMeter meter(clock);
    clock.advance(std::chrono::seconds(8));
    meter.step(0.5, 30);
    meter.step(1.5, 10);
    const Tick evaluating = clock.tick();
    clock.advance(std::chrono::seconds(2));
    meter.evaluated_since(evaluating);
    const EpochSummary first = meter.finish();
    EXPECT_DOUBLE_EQ(first.train_s, 8);
    EXPECT_DOUBLE_EQ(first.evaluate_s, 2);
    EXPECT_EQ(first.samples, 40);
    EXPECT_DOUBLE_EQ(first.samples_per_s, 5);
    EXPECT_EQ(first.values, (decltype(first.values){{"train_loss", 0.75}}));

    const Tick saving = clock.tick();
    clock.advance(std::chrono::seconds(3));
    meter.saved_since(saving);
    clock.advance(std::chrono::seconds(4));
    meter.step(0.25, 8);
    const EpochSummary second = meter.finish();
    EXPECT_DOUBLE_EQ(second.train_s, 4);
    EXPECT_DOUBLE_EQ(second.evaluate_s, 0);
    EXPECT_DOUBLE_EQ(second.samples_per_s, 2);
}

TEST(EpochMeter, of_no_time_and_no_step_says_neither_speed_nor_loss) {
    const HandClock clock;
    const EpochSummary nothing = EpochMeter(clock).finish();
    EXPECT_EQ(nothing.samples_per_s, 0);
    EXPECT_TRUE(nothing.values.empty());
}

}    // namespace
}    // namespace slipway
