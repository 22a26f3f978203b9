// Goal: 15 % of the text is predicted, shown as BERT shows it, drawn anew each epoch and never
// again in an evaluation; what stands for no text is left alone. Method: rows in memory; the masks
// of three uses beside those of a second implementation in tests/executor/train/reference/masks.py.
#include "executor/text/masked_samples.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "api/base/error.h"
#include "executor/tensor/array.h"
#include "tests/executor/text/make_rows.h"

namespace slipway {
namespace {

struct Read {
    std::vector<std::int32_t> shown, positions, tokens;
    bool operator==(const Read&) const = default;

    std::int64_t counted() const {
        return std::ranges::count_if(tokens, [](std::int32_t token) { return token >= 0; });
    }
};

Read read(const Samples& samples, std::int64_t sample, std::int64_t epoch) {
    const SampleShape& shape = samples.shape();
    Array features(shape.features), labels(shape.labels);
    samples.read({.sample = sample, .epoch = epoch},
                 {.features = {features.bytes(), std::size_t(features.byte_count())},
                  .labels = {labels.bytes(), std::size_t(labels.byte_count())}});
    const auto all = labels.as<std::int32_t>();
    const auto half = all.size() / 2;
    const auto shown = features.as<std::int32_t>();
    return {{shown.begin(), shown.end()},
            {all.begin(), all.begin() + std::ptrdiff_t(half)},
            {all.begin() + std::ptrdiff_t(half), all.end()}};
}

TEST(MaskedSamples, predict_15_percent_and_at_least_one_token) {
    const std::map<std::int64_t, std::int64_t> expected{{0, 0},  {1, 1},    {3, 1},    {9, 1},
                                                        {10, 2}, {126, 19}, {128, 19}, {512, 77}};
    for (const auto& [tokens, count] : expected)
        EXPECT_EQ(prediction_count(tokens), count) << tokens;
}

TEST(MaskedSamples, say_where_what_was) {
    const TokenSequences rows = framed_rows(64, {64, 22, 3, 2});
    const auto samples = masked_samples(rows, {.seed = 5});
    EXPECT_EQ(samples->shape().features, (Shape{DType::i32, {64}}));
    EXPECT_EQ(samples->shape().labels, (Shape{DType::i32, {2, 10}}));
    const std::vector<std::int64_t> counts{9, 3, 1, 0};
    for (std::int64_t row = 0; row < rows.count(); ++row) {
        const Read one = read(*samples, row, 0);
        EXPECT_EQ(one.counted(), counts[std::size_t(row)]);
        EXPECT_EQ(samples->label_count(row), one.counted());
        EXPECT_TRUE(
            std::ranges::is_sorted(one.positions.begin(), one.positions.begin() + one.counted()));
        std::vector<std::int32_t> restored = one.shown;
        for (std::size_t i = 0; i < one.tokens.size(); ++i) {
            if (one.tokens[i] < 0) {
                EXPECT_EQ(one.tokens[i], uncounted_label);
                EXPECT_EQ(one.positions[i], 0);
                continue;
            }
            EXPECT_GT(one.tokens[i], mask_token) << "a token of text";
            restored[std::size_t(one.positions[i])] = one.tokens[i];
        }
        EXPECT_TRUE(std::ranges::equal(restored, rows.row(row))) << "row " << row;
    }
}

TEST(MaskedSamples, show_eight_in_ten_as_masks_one_as_another_token_and_one_as_it_is) {
    constexpr std::int64_t length = 130, epochs = 400;
    const TokenSequences rows = framed_rows(length, {length});
    const auto samples = masked_samples(rows, {.seed = 1});
    std::map<std::string, double> shares;
    std::vector<double> chosen(std::size_t(length), 0.0);
    double count = 0;
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
        const Read one = read(*samples, 0, epoch);
        for (std::size_t i = 0; i < one.tokens.size(); ++i) {
            if (one.tokens[i] < 0) continue;
            const std::int32_t shown = one.shown[std::size_t(one.positions[i])];
            EXPECT_GE(shown, mask_token) << "neither padding nor a frame is drawn";
            shares[shown == mask_token ? "mask" : shown == one.tokens[i] ? "same" : "other"] += 1;
            chosen[std::size_t(one.positions[i])] += 1;
            ++count;
        }
    }
    // 7,600 draws: the deviation of a share is at most 0.005. One drawn in 96 is the same again.
    EXPECT_NEAR(shares["mask"] / count, 0.8, 0.02);
    EXPECT_NEAR(shares["other"] / count, 0.1 * 95 / 96, 0.015);
    EXPECT_NEAR(shares["same"] / count, 0.1 + 0.1 / 96, 0.015);
    // Each of 128 positions 59 times on average, with a deviation of 7.
    EXPECT_EQ(chosen.front() + chosen.back(), 0);
    const auto [least, most] = std::minmax_element(chosen.begin() + 1, chosen.end() - 1);
    EXPECT_GT(*least, 59 - 5 * 7);
    EXPECT_LT(*most, 59 + 5 * 7);
}

TEST(MaskedSamples, are_drawn_anew_for_each_epoch_row_and_seed) {
    const TokenSequences rows = framed_rows(64, {64, 64});
    const auto samples = masked_samples(rows, {.seed = 5});
    const auto others = masked_samples(rows, {.seed = 6});
    std::set<std::vector<std::int32_t>> positions;
    for (const std::int64_t sample : {0, 1})
        for (const std::int64_t epoch : {0, 1, 2}) {
            EXPECT_EQ(read(*samples, sample, epoch), read(*samples, sample, epoch));
            positions.insert(read(*samples, sample, epoch).positions);
            positions.insert(read(*others, sample, epoch).positions);
        }
    EXPECT_EQ(positions.size(), 12U);
}

TEST(MaskedSamples, of_an_evaluation_stay) {
    const TokenSequences rows = framed_rows(64, {64});
    const auto samples = masked_samples(rows, {.seed = 5, .anew = false});
    EXPECT_EQ(read(*samples, 0, 0), read(*samples, 0, 7));
    EXPECT_EQ(read(*samples, 0, 0), read(*masked_samples(rows, {.seed = 5}), 0, 0));
}

TEST(MaskedSamples, are_those_of_a_second_implementation) {
    const TokenSequences rows = framed_rows(24, {24, 20});
    const auto samples = masked_samples(rows, {.seed = 11});
    // python3 tests/executor/train/reference/masks.py
    const Read first = read(*samples, 0, 0);
    EXPECT_EQ(first.positions, (std::vector<std::int32_t>{7, 8, 18, 0}));
    EXPECT_EQ(first.tokens, (std::vector<std::int32_t>{11, 12, 22, uncounted_label}));
    EXPECT_EQ(first.shown,
              (std::vector<std::int32_t>{1,  5,  6,  7,  8,  9,  10, 3,  12, 13, 14, 15,
                                         16, 17, 18, 19, 20, 21, 3,  23, 24, 25, 26, 2}));
    EXPECT_EQ(read(*samples, 1, 0).positions, (std::vector<std::int32_t>{5, 13, 17, 0}));
    const Read later = read(*samples, 1, 3);
    EXPECT_EQ(later.positions, (std::vector<std::int32_t>{13, 17, 18, 0}));
    EXPECT_EQ(later.tokens, (std::vector<std::int32_t>{41, 45, 46, uncounted_label}));
}

TEST(MaskedSamples, need_tokens_to_mask_and_to_fill_up_with) {
    const auto refused = [](auto change) {
        TokenSequences rows = framed_rows(8, {8, 5});
        change(rows);
        try {
            masked_samples(rows, {});
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(refused([](TokenSequences&) {}), "");
    EXPECT_NE(refused([](TokenSequences& rows) { rows.mask.reset(); }).find("needs a mask token"),
              std::string::npos);
    EXPECT_NE(refused([](TokenSequences& rows) { rows.padding.reset(); }).find("no padding token"),
              std::string::npos);
    EXPECT_NE(
        refused([](TokenSequences& rows) { rows.vocabulary_size = 4; }).find("stands for text"),
        std::string::npos);
}

}    // namespace
}    // namespace slipway
