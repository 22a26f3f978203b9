#include "server/routes/schedule_preview.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/spec/documents.h"

namespace slipway {
namespace {

/// 90 samples of two classes in two parts.
const Json report = Json::parse(R"({"samples": 90,
    "classes": [{"name": "a", "count": 45}, {"name": "b", "count": 45}],
    "parts": [{"name": "train", "count": 64}, {"name": "val", "count": 26}]})");

/// 4 epochs in batches of 20, a tenth held back, a hundredth after each two epochs.
JobSpec spec() {
    JobSpec made;
    made.model.arch = Arch::mlp;
    made.train.epochs = 4;
    made.train.batch_size_per_core = 20;
    made.train.optimizer.lr = 0.5;
    made.train.schedule = {.name = ScheduleName::step, .step_epochs = 2, .gamma = 0.01};
    return made;
}

TEST(TrainingSamples, are_what_the_split_leaves) {
    JobSpec asked = spec();
    EXPECT_EQ(training_samples(asked, report), 81);
    asked.data.split.stratify = true;
    EXPECT_EQ(training_samples(asked, report), 90 - 2 * 5) << "each class is rounded by itself";
    asked.data.split.train_part = "train";
    EXPECT_EQ(training_samples(asked, report), 64);
    asked.data.split.train_part = "other";
    EXPECT_EQ(training_samples(asked, report), std::nullopt);
}

TEST(TrainingSamples, of_groups_and_text_only_the_executor_can_tell) {
    JobSpec asked = spec();
    asked.data.split.group_by = "family";
    EXPECT_EQ(training_samples(asked, report), std::nullopt);
    asked = spec();
    asked.model.arch = Arch::gpt_tiny;
    EXPECT_EQ(training_samples(asked, report), std::nullopt);
    EXPECT_EQ(training_samples(spec(), Json()), std::nullopt);
}

TEST(SchedulePreview, has_every_step_of_a_short_run) {
    const Json found = schedule_preview(spec(), 81);
    EXPECT_EQ(found["steps_per_epoch"], 4);
    EXPECT_EQ(found["steps_total"], 16);
    ASSERT_EQ(found["points"].size(), 16U);
    EXPECT_EQ(found["points"][7], Json({{"step", 8}, {"lr", 0.5}}));
    EXPECT_EQ(found["points"][8], Json({{"step", 9}, {"lr", 0.005}}));
    JobSpec all = spec();
    all.train.drop_last = false;
    EXPECT_EQ(schedule_preview(all, 81)["steps_total"], 20);
    all.train.batches_per_epoch = 3;
    EXPECT_EQ(schedule_preview(all, 81)["steps_total"], 12);
}

TEST(SchedulePreview, of_a_long_run_has_50_points_with_the_first_and_the_last) {
    JobSpec asked = spec();
    asked.train.epochs.reset();
    asked.train.steps = 100000;
    asked.train.schedule = {.name = ScheduleName::linear, .warmup_steps = 10};
    const Json found = schedule_preview(asked, std::nullopt);
    EXPECT_EQ(found["steps_per_epoch"], nullptr);
    ASSERT_EQ(found["points"].size(), 50U);
    EXPECT_EQ(found["points"][0], Json({{"step", 1}, {"lr", 0.05}}));
    EXPECT_EQ(found["points"][49]["step"], 100000);
    EXPECT_LT(found["points"][49]["lr"], 1e-5);
}

TEST(SchedulePreview, needs_to_know_the_steps) {
    EXPECT_EQ(schedule_preview(spec(), std::nullopt), nullptr);
    EXPECT_EQ(schedule_preview(spec(), 19), nullptr) << "no step has enough samples";
    JobSpec by_steps = spec();
    by_steps.train.epochs.reset();
    by_steps.train.steps = 10;
    EXPECT_EQ(schedule_preview(by_steps, std::nullopt), nullptr) << "its epochs decide";
    EXPECT_EQ(schedule_preview(by_steps, 81)["steps_total"], 10);
}

}    // namespace
}    // namespace slipway
