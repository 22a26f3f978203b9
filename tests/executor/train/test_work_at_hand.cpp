#include "executor/train/work_at_hand.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(WorkAtHand, before_the_first_batch_nothing_is_in_work) {
    const FailedWork failed = WorkAtHand(nullptr).failed(7, std::nullopt);
    EXPECT_EQ(failed.step, 7);
    EXPECT_FALSE(failed.batch);
    EXPECT_TRUE(failed.program.empty());
}

TEST(WorkAtHand, a_begun_batch_belongs_to_the_step_after_those_that_are_done) {
    RunPosition position;
    WorkAtHand work(&position);
    work.begin_batch({.epoch = 1, .batch = 4}, 12);
    work.begin_program("train_step");
    EXPECT_EQ(work.failed(12, std::nullopt).step, 13);
    EXPECT_EQ(work.failed(12, std::nullopt).program, "train_step");
    EXPECT_EQ(position.step, 13);
    EXPECT_EQ(position.epoch, 2);
    EXPECT_EQ(position.batch, 4);
    EXPECT_EQ(program_of(position), "train_step");
}

TEST(WorkAtHand, what_fails_after_a_step_belongs_to_that_step) {
    WorkAtHand work(nullptr);
    work.begin_batch({.epoch = 0, .batch = 0}, 0);
    work.end_step();
    EXPECT_EQ(work.failed(1, std::nullopt).step, 1);
    work.begin_batch({.epoch = 0, .batch = 1}, 1);
    EXPECT_EQ(work.failed(1, std::nullopt).step, 2);
}

}    // namespace
}    // namespace slipway
