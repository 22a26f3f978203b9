// Goal: each position's label is the token after it, and what fills a row up is no label.
#include "executor/text/causal_samples.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "executor/text/masked_samples.h"

namespace slipway {
namespace {

TEST(CausalSamples, predict_the_token_after_each) {
    // Two rows that share a token, as cut with an overlap of 1: "4 5 6 7 8 9 4".
    const TokenSequences rows{.length = 5,
                              .vocabulary_size = 10,
                              .tokens = {4, 5, 6, 7, 8, 8, 9, 4, 0, 0},
                              .token_counts = {5, 3},
                              .padding = 0,
                              .special = {0}};
    const auto samples = causal_samples(rows);
    EXPECT_EQ(samples->shape().features, (Shape{DType::i32, {4}}));
    EXPECT_EQ(samples->shape().labels, (Shape{DType::i32, {4}}));
    const std::vector<std::vector<std::int32_t>> features{{4, 5, 6, 7}, {8, 9, 4, 0}};
    const std::vector<std::vector<std::int32_t>> labels{{5, 6, 7, 8},
                                                        {9, 4, uncounted_label, uncounted_label}};
    for (std::size_t row = 0; row < 2; ++row) {
        std::vector<std::int32_t> x(4), y(4);
        samples->read({.sample = std::int64_t(row), .epoch = 3},
                      {.features = std::as_writable_bytes(std::span(x)),
                       .labels = std::as_writable_bytes(std::span(y))});
        EXPECT_EQ(x, features[row]);
        EXPECT_EQ(y, labels[row]);
        EXPECT_EQ(samples->label_count(std::int64_t(row)),
                  std::ranges::count_if(y, [](std::int32_t label) { return label >= 0; }));
    }
}

}    // namespace
}    // namespace slipway
