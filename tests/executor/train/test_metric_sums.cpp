#include "executor/train/metric_sums.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

Value sum_of(std::initializer_list<float> numbers) {
    const std::vector<float> all(numbers);
    return {{array_of<float>({std::int64_t(all.size())}, all)}};
}

TEST(MetricSums, add_batches_up_by_name) {
    const std::vector<std::string> names{"loss", "labels", "confusion"};
    MetricSums sums;
    sums.add(names, std::vector{sum_of({3}), sum_of({4}), sum_of({1, 0, 0, 3})});
    sums.add(names, std::vector{sum_of({1}), sum_of({4}), sum_of({2, 1, 1, 0})});
    EXPECT_EQ(sums.mean("loss"), 0.5);
    EXPECT_EQ(sums.scalar("labels"), 8);
    const auto confusion = sums.of("confusion");
    EXPECT_EQ(std::vector(confusion.begin(), confusion.end()), (std::vector<double>{3, 1, 1, 3}));
    sums = {};
    EXPECT_THROW(sums.of("loss"), Error);
}

TEST(MetricSums, of_no_labels_are_0_on_average) {
    const std::vector<std::string> names{"loss", "labels"};
    MetricSums sums;
    sums.add(names, std::vector{sum_of({0}), sum_of({0})});
    EXPECT_EQ(sums.mean("loss"), 0);
}

TEST(MetricSums, keep_what_f32_would_lose) {
    const std::vector<std::string> names{"labels"};
    MetricSums sums;
    sums.add(names, std::vector{sum_of({16777216})});
    for (int batch = 0; batch < 3; ++batch)
        sums.add(names, std::vector{sum_of({1})});
    EXPECT_EQ(sums.scalar("labels"), 16777219);
}

TEST(MetricValues, are_found_by_name_and_get_a_prefix) {
    const MetricValues values{{"loss", 0.25}, {"accuracy", 0.5}};
    EXPECT_EQ(value_of(values, "accuracy"), 0.5);
    EXPECT_THROW(value_of(values, "perplexity"), Error);
    EXPECT_EQ(with_prefix("val_", values),
              (MetricValues{{"val_loss", 0.25}, {"val_accuracy", 0.5}}));
}

}    // namespace
}    // namespace slipway
