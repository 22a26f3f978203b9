#include "executor/main/progress_bar.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

ProgressView half_way() {
    ProgressView view;
    view.progress = {.epoch = 2,
                     .epochs = 5,
                     .step = 312,
                     .steps_total = 624,
                     .samples = 9984,
                     .samples_per_s = 1234.4,
                     .eta_s = 11.2};
    view.metrics = {{"train_loss", 0.12345}};
    return view;
}

TEST(FormatDuration, people_read_minutes) {
    EXPECT_EQ(format_duration(0), "0:00");
    EXPECT_EQ(format_duration(11.2), "0:12");
    EXPECT_EQ(format_duration(65), "1:05");
    EXPECT_EQ(format_duration(7384), "2:03:04");
    for (const double unknown : {-1.0, 1e12, std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()})
        EXPECT_EQ(format_duration(unknown), "-");
}

TEST(FormatBar, a_wide_terminal_shows_everything) {
    EXPECT_EQ(format_bar(half_way(), 120),
              "epoch 2/5 [===============>              ]  312/624  1234 samples/s  eta 0:12  "
              "train_loss 0.1235");
}

TEST(FormatBar, a_narrow_terminal_gets_one_line_all_the_same) {
    for (int width = 0; width <= 130; ++width)
        EXPECT_LE(format_bar(half_way(), width).size(), std::size_t(width)) << width;
    EXPECT_EQ(format_bar(half_way(), 70),
              "epoch 2/5 [===========>           ]  312/624  1234 samples/s  eta 0:12");
}

TEST(FormatBar, the_ends_and_an_unknown_total_are_drawn) {
    ProgressView view;
    EXPECT_NE(format_bar(view, 100).find("eta -"), std::string::npos);
    EXPECT_NE(format_bar(view, 100).find("[>"), std::string::npos);
    view.progress.steps_total = 10;
    view.progress.step = 10;
    EXPECT_EQ(format_bar(view, 100).find('>'), std::string::npos);
    view.progress.step = 20;
    EXPECT_EQ(format_bar(view, 100).find('>'), std::string::npos);
}

TEST(ProgressBar, a_file_gets_one_line_per_epoch) {
    const TempFolder folder;
    const auto path = folder.path() / "output";
    std::FILE* file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    {
        ProgressBar bar(file);
        bar.show(half_way().progress);
        MetricPoint point;
        point.step = 312;
        point.epoch = 2;
        point.values = {{"train_loss", 0.5}};
        bar.show(point);
        bar.show({.epoch = 2,
                  .epochs = 5,
                  .step = 312,
                  .train_s = 12.34,
                  .evaluate_s = 0.5,
                  .samples = 9984,
                  .samples_per_s = 809,
                  .values = {{"train_loss", 0.5}, {"val_accuracy", 0.97}}});
        bar.say("hello");
        bar.say("left out: \x1b[2Jants\n/a.png");
    }
    std::fclose(file);
    EXPECT_EQ(read_file(path),
              "epoch 2/5  step 312/624  809 samples/s  train 12.3 s  evaluate 0.5 s  train_loss 0.5"
              "  val_accuracy 0.97\nhello\nleft out: \\u001b[2Jants\\u000a/a.png\n");
}

}    // namespace
}    // namespace slipway
