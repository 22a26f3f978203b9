#include "executor/train/checkpoint_record.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

class CheckpointRecord : public testing::Test {
protected:
    CheckpointRecord() {
        settings_.keep = {.metric = "val_loss", .best = 1, .last = 1};
        settings_.steps_per_epoch = 10;
    }

    SavedCheckpoint saved_at(std::int64_t step, const MetricValues& evaluated) {
        state_.step = step;
        return next_checkpoint(state_, settings_, evaluated, {.attempt = 3, .writer = {}});
    }

    TrainState state_;
    TrainSettings settings_;
};

TEST_F(CheckpointRecord, names_step_attempt_and_whole_epochs) {
    const SavedCheckpoint saved = saved_at(29, {{"val_loss", 0.5}, {"val_accuracy", 1.0}});
    EXPECT_EQ(saved.name, "step_000029_attempt_3");
    EXPECT_EQ(saved.epoch, 2);
    EXPECT_EQ(saved.metric, std::make_pair(std::string("val_loss"), 0.5));
    EXPECT_TRUE(saved.files.empty());
}

TEST_F(CheckpointRecord, what_is_kept_becomes_part_of_the_state) {
    saved_at(10, {{"val_loss", 0.5}});
    const SavedCheckpoint worse = saved_at(20, {{"val_loss", 0.7}});
    EXPECT_EQ(worse.kinds, std::vector<std::string>{"last"});
    EXPECT_EQ(worse.best, std::vector<std::string>{"step_000010_attempt_3"});
    EXPECT_EQ(worse.last, std::vector<std::string>{"step_000020_attempt_3"});
    EXPECT_TRUE(worse.pruned.empty()) << "the best is still kept";
    const SavedCheckpoint better = saved_at(30, {{"val_loss", 0.3}});
    EXPECT_EQ(better.pruned,
              (std::vector<std::string>{"step_000020_attempt_3", "step_000010_attempt_3"}));
    EXPECT_EQ(names_of(state_.kept.best), std::vector<std::string>{better.name});
}

TEST_F(CheckpointRecord, a_step_without_an_evaluation_has_no_metric) {
    EXPECT_FALSE(saved_at(11, {}).metric);
    EXPECT_TRUE(state_.kept.best.empty());
}

}    // namespace
}    // namespace slipway
