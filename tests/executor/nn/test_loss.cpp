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
    const Tensor x = input({DType::f32, {n, classes}}, Placement::replicated, "logits");
    const Tensor y = input({DType::i32, {n}}, Placement::replicated, "labels");
    const Tensor w = input({DType::f32, {n}}, Placement::replicated, "weights");
    const auto sums = classification_sums(x, y, w);
    const Graph graph{.inputs = {x, y, w}, .outputs = {sums.loss, sums.correct}, .donations = {}};
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

/// loss, count and correct of two samples of three tokens; a vocabulary of four.
std::array<double, 3> token_sums_of(const std::vector<std::int32_t>& labels,
                                    const std::vector<float>& weights) {
    const Tensor x = input({DType::f32, {2, 3, 4}}, Placement::replicated, "logits");
    const Tensor y = input({DType::i32, {2, 3}}, Placement::replicated, "labels");
    const Tensor w = input({DType::f32, {2}}, Placement::replicated, "weights");
    const TokenSums sums = token_sums(x, y, w);
    // Every token's largest logit is that of 2, by log 3.
    Array logits(x.shape());
    for (std::size_t i = 2; i < 24; i += 4)
        logits.as<float>()[i] = std::log(3.0F);
    const Graph graph{
        .inputs = {x, y, w}, .outputs = {sums.loss, sums.count, sums.correct}, .donations = {}};
    const std::vector<ReferenceValue> values{
        {logits}, {array_of<std::int32_t>({2, 3}, labels)}, {array_of<float>({2}, weights)}};
    const auto outputs = evaluate(graph, values, 1);
    return {double(outputs[0][0].as<float>()[0]), double(outputs[1][0].as<float>()[0]),
            double(outputs[2][0].as<float>()[0])};
}

TEST(TokenSums, are_over_the_tokens_that_have_a_label) {
    // The chance of token 2 is 3 / 6, of each other one 1 / 6.
    const auto [loss, count, correct] = token_sums_of({2, 0, -100, -100, 2, 3}, {1, 1});
    EXPECT_NEAR(loss, 2 * std::log(2.0) + 2 * std::log(6.0), 1e-6);
    EXPECT_EQ(count, 4);
    EXPECT_EQ(correct, 2);
}

TEST(TokenSums, of_a_sample_of_weight_zero_are_nothing) {
    const auto [loss, count, correct] = token_sums_of({0, 0, 2, 2, 2, 2}, {1, 0});
    EXPECT_NEAR(loss, 2 * std::log(6.0) + std::log(2.0), 1e-6);
    EXPECT_EQ(count, 3);
    EXPECT_EQ(correct, 1);
}

}    // namespace
}    // namespace slipway
