#include "executor/main/metrics_csv.h"

#include <gtest/gtest.h>

#include "api/base/error.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

MetricPoint point(std::int64_t step, std::vector<std::pair<std::string, double>> values) {
    MetricPoint result;
    result.step = step;
    result.epoch = 1;
    result.values = std::move(values);
    return result;
}

TEST(MetricsCsv, rows_follow_the_header_and_gaps_stay_empty) {
    const TempFolder folder;
    const auto file = folder.path() / "metrics.csv";
    MetricsCsv csv(file);
    csv.add(point(1, {{"train_loss", 0.5}, {"lr", 0.001}}));
    csv.add(point(2, {{"lr", 0.25}}));
    EXPECT_EQ(read_file(file), "step,epoch,train_loss,lr\n1,1,0.5,0.001\n2,1,,0.25\n");
}

TEST(MetricsCsv, a_metric_that_comes_later_adds_a_column_to_every_row) {
    const TempFolder folder;
    const auto file = folder.path() / "metrics.csv";
    MetricsCsv csv(file);
    csv.add(point(1, {{"train_loss", 0.5}}));
    csv.add(point(2, {{"val_loss", 0.25}, {"val_accuracy", 1}}));
    EXPECT_EQ(read_file(file),
              "step,epoch,train_loss,val_loss,val_accuracy\n1,1,0.5,,\n2,1,,0.25,1\n");
}

TEST(MetricsCsv, an_older_file_is_continued) {
    const TempFolder folder;
    const auto file = folder.path() / "metrics.csv";
    MetricsCsv(file).add(point(1, {{"train_loss", 0.5}}));
    MetricsCsv csv(file);
    csv.add(point(2, {{"train_loss", 0.25}}));
    csv.add(point(3, {{"lr", 1}}));
    EXPECT_EQ(read_file(file), "step,epoch,train_loss,lr\n1,1,0.5,\n2,1,0.25,\n3,1,,1\n");
}

TEST(MetricsCsv, later_steps_are_forgotten) {
    const TempFolder folder;
    const auto file = folder.path() / "metrics.csv";
    MetricsCsv csv(file);
    csv.forget_after(0);
    for (const std::int64_t step : {1, 2, 10})
        csv.add(point(step, {{"x", 0.5}}));
    csv.forget_after(2);
    EXPECT_EQ(read_file(file), "step,epoch,x\n1,1,0.5\n2,1,0.5\n");
}

TEST(MetricsCsv, a_place_that_cannot_be_written_is_an_error) {
    MetricsCsv csv("/nonexistent/metrics.csv");
    EXPECT_THROW(csv.add(point(1, {{"x", 1}})), Error);
}

}    // namespace
}    // namespace slipway
