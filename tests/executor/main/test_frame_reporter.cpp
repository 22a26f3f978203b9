#include "executor/main/frame_reporter.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/support/hand_clock.h"

namespace slipway {
namespace {

struct Said {
    std::vector<Json> frames;
    HandClock clock;
    FrameReporter reporter{[this](const Json& frame) { frames.push_back(frame); },
                           {.stop = [] { return StopReason::cancel; }},
                           clock};
};

Progress at_step(std::int64_t step, const std::string& phase = "train") {
    Progress progress;
    progress.step = step;
    progress.steps_total = 100;
    progress.phase = phase;
    return progress;
}

TEST(FrameReporter, progress_is_passed_on_twice_a_second_and_at_the_end) {
    Said said;
    for (int step = 1; step <= 10; ++step) {
        said.reporter.progress(at_step(step));
        said.clock.advance(std::chrono::milliseconds(100));
    }
    ASSERT_EQ(said.frames.size(), 2U);    // at 0 and 500 ms
    said.reporter.progress(at_step(100));
    ASSERT_EQ(said.frames.size(), 3U);
    EXPECT_EQ(said.frames[2].at("step"), 100);
}

TEST(FrameReporter, a_new_phase_is_shown_at_once) {
    Said said;
    said.reporter.progress(at_step(1));
    said.reporter.progress(at_step(1, "evaluate"));
    ASSERT_EQ(said.frames.size(), 2U);
    EXPECT_EQ(said.frames[1].at("phase"), "evaluate");
}

TEST(FrameReporter, an_epoch_is_a_line_in_the_log_once_a_second_and_at_the_end) {
    Said said;
    EpochSummary summary{.epoch = 1,
                         .epochs = 9,
                         .step = 10,
                         .train_s = 1.5,
                         .evaluate_s = 0.25,
                         .samples = 300,
                         .samples_per_s = 200,
                         .values = {{"train_loss", 0.5}}};
    said.reporter.epoch(summary);
    EXPECT_EQ(said.frames.at(0).at("message"),
              "epoch 1 of 9 (step 10): training 1.5 s, evaluation 0.25 s, 200 samples/s, "
              "train_loss 0.5");
    summary.epoch = 2;
    said.reporter.epoch(summary);
    EXPECT_EQ(said.frames.size(), 1U);
    summary.epoch = 9;
    said.reporter.epoch(summary);
    EXPECT_EQ(said.frames.size(), 2U);
}

TEST(FrameReporter, values_that_json_cannot_say_are_null_with_their_word) {
    Said said;
    MetricPoint point;
    point.step = 3;
    point.values = {{"train_loss", 0.5}, {"lr", std::numeric_limits<double>::quiet_NaN()}};
    said.reporter.metric(point);
    ASSERT_EQ(said.frames.size(), 1U);
    EXPECT_EQ(said.frames[0].at("values"), Json({{"train_loss", 0.5}, {"lr", nullptr}}));
    EXPECT_EQ(said.frames[0].at("nonfinite"), Json({{"lr", "nan"}}));
    point.values = {{"x", 1.0}};
    said.reporter.metric(point);
    EXPECT_FALSE(said.frames.at(1).contains("nonfinite"));
    SavedCheckpoint checkpoint;
    checkpoint.metric = {{"val_loss", -std::numeric_limits<double>::infinity()}};
    said.reporter.checkpoint(checkpoint);
    EXPECT_EQ(said.frames.at(2).at("metric"),
              Json({{"name", "val_loss"}, {"value", nullptr}, {"nonfinite", "-inf"}}));
}

TEST(FrameReporter, a_checkpoint_says_its_files_kinds_and_what_it_replaces) {
    Said said;
    SavedCheckpoint checkpoint;
    checkpoint.name = "step_000500_attempt_2";
    checkpoint.step = 500;
    checkpoint.epoch = 2;
    checkpoint.kinds = {"last", "best"};
    checkpoint.last = {"step_000400_attempt_2", "step_000500_attempt_2"};
    checkpoint.best = {"step_000500_attempt_2"};
    checkpoint.files = {{.name = "model.safetensors", .bytes = 12, .sha256 = "ab"}};
    checkpoint.metric = {{"val_loss", 0.25}};
    checkpoint.pruned = {"step_000100_attempt_1"};
    checkpoint.writer = {
        .program = "slipway-executor 1.2", .build = "ab12", .instruction_set = "avx2"};
    said.reporter.checkpoint(checkpoint);
    const Json expected = Json::parse(R"({"type": "checkpoint", "name": "step_000500_attempt_2",
        "step": 500, "epoch": 2, "kinds": ["last", "best"],
        "files": [{"name": "model.safetensors", "bytes": 12, "sha256": "ab"}],
        "metric": {"name": "val_loss", "value": 0.25}, "pruned": ["step_000100_attempt_1"],
        "kept": {"last": ["step_000400_attempt_2", "step_000500_attempt_2"],
                 "best": ["step_000500_attempt_2"]},
        "written_by": {"program": "slipway-executor 1.2", "build": "ab12", "format": 1,
                       "spec_version": 1, "instruction_set": "avx2"}})");
    ASSERT_EQ(said.frames.size(), 1U);
    EXPECT_EQ(said.frames[0], expected);
    checkpoint.metric.reset();
    said.reporter.checkpoint(checkpoint);
    EXPECT_TRUE(said.frames[1].at("metric").is_null());
}

TEST(FrameReporter, the_other_words_keep_their_meaning) {
    Said said;
    said.reporter.state(JobState::compiling);
    said.reporter.compiled(
        {.program = "train_step", .hash = "ab", .seconds = 0.5, .peak_bytes = 7});
    said.reporter.compiled({.program = "train_step",
                            .hash = "cd",
                            .after_warm_up = true,
                            .cause = "features is f32[7,4], was f32[16,4]"});
    said.reporter.reported({.step = 9,
                            .finished = true,
                            .verdict = "sync_bound",
                            .field = "train.batch_size_per_core",
                            .message = "Sync-bound: …"});
    said.reporter.warning("few_samples", "only 3");
    said.reporter.log("warn", "hm");
    ASSERT_EQ(said.frames.size(), 6U);
    EXPECT_EQ(said.frames[0], Json({{"type", "state"}, {"state", "compiling"}}));
    EXPECT_EQ(said.frames[1].at("memory").at("peak_bytes"), 7);
    EXPECT_FALSE(said.frames[1].contains("cause"));
    EXPECT_EQ(said.frames[2].at("after_warm_up"), true);
    EXPECT_EQ(said.frames[2].at("cause"), "features is f32[7,4], was f32[16,4]");
    EXPECT_EQ(said.frames[3], Json({{"type", "report"},
                                    {"step", 9},
                                    {"finished", true},
                                    {"verdict", "sync_bound"},
                                    {"field", "train.batch_size_per_core"},
                                    {"message", "Sync-bound: …"}}));
    EXPECT_EQ(said.frames[4].at("code"), "few_samples");
    EXPECT_EQ(said.frames[5].at("level"), "warn");
    EXPECT_EQ(said.reporter.stop_requested(), StopReason::cancel);
}

TEST(Bounded, long_texts_are_cut_between_characters) {
    EXPECT_EQ(bounded("short"), "short");
    const std::string cut = bounded(std::string(8191, 'x') + "äöü");
    EXPECT_EQ(cut, std::string(8191, 'x') + "…");
}

}    // namespace
}    // namespace slipway
