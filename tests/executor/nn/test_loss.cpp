#include "executor/nn/loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "executor/reference/evaluate.h"

namespace slipway {
namespace {

struct Sums {
    double loss, correct;
};

Sums sums_of(const std::vector<float>& logits, const std::vector<std::int32_t>& labels,
             const std::vector<float>& weights) {
    const auto n = std::int64_t(labels.size());
    const auto classes = std::int64_t(logits.size()) / n;
    const Tensor x = leaf({DType::f32, {n, classes}}, Placement::replicated, "logits");
    const Tensor y = leaf({DType::i32, {n}}, Placement::replicated, "labels");
    const Tensor w = leaf({DType::f32, {n}}, Placement::replicated, "weights");
    const auto sums = classification_sums(x, y, w);
    const Graph graph{.leaves = {x, y, w}, .outputs = {sums.loss, sums.correct}, .donations = {}};
    const std::vector<ReferenceValue> values{{array_of<float>({n, classes}, logits)},
                                             {array_of<std::int32_t>({n}, labels)},
                                             {array_of<float>({n}, weights)}};
    const auto outputs = evaluate(graph, values, 1);
    return {double(outputs[0][0].as<float>()[0]), double(outputs[1][0].as<float>()[0])};
}

TEST(ClassificationSums, equal_logits_give_the_logarithm_of_the_class_count) {
    const Sums sums = sums_of({0, 0, 0, 0, 0, 0, 0, 0}, {1, 3}, {1, 1});
    EXPECT_NEAR(sums.loss, 2 * std::log(4.0), 1e-6);
}

TEST(ClassificationSums, huge_logits_do_not_overflow) {
    const Sums sums = sums_of({1000, -1000}, {1}, {1});
    EXPECT_NEAR(sums.loss, 2000, 1e-3);
}

TEST(ClassificationSums, a_sample_of_weight_zero_counts_nowhere) {
    const Sums sums = sums_of({5, 0, 0, 5}, {0, 0}, {1, 0});
    EXPECT_NEAR(sums.loss, std::log1p(std::exp(-5.0)), 1e-6);
    EXPECT_EQ(sums.correct, 1);
}

TEST(ClassificationSums, of_equal_logits_the_first_class_is_the_answer) {
    EXPECT_EQ(sums_of({1, 1}, {0}, {1}).correct, 1);
    EXPECT_EQ(sums_of({1, 1}, {1}, {1}).correct, 0);
}

}    // namespace
}    // namespace slipway
