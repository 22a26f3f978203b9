#include "executor/train/early_stopping.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "api/base/error.h"

namespace slipway {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// After an evaluation every 10 steps.
EarlyStopping after(const EarlyStoppingSpec& rule, const std::vector<double>& values) {
    EarlyStopping state;
    std::int64_t step = 0;
    for (const double value : values)
        state = judged(rule, state, value, step += 10);
    return state;
}

TEST(EarlyStopping, patience_counts_evaluations_since_the_best) {
    const EarlyStoppingSpec rule{.mode = MetricMode::min, .patience = 2};
    EXPECT_EQ(after(rule, {5, 4, 4.5}), (EarlyStopping{4.0, 20, 1}));
    EXPECT_FALSE(ends_training(rule, after(rule, {5, 4, 4.5})));
    EXPECT_TRUE(ends_training(rule, after(rule, {5, 4, 4.5, 4})));
    EXPECT_EQ(after(rule, {5, 4, 4.5, 3}), (EarlyStopping{3.0, 40, 0}));
    EXPECT_FALSE(ends_training(rule, {}));
}

TEST(EarlyStopping, better_is_better_by_more_than_the_least_difference) {
    const EarlyStoppingSpec rule{.mode = MetricMode::max, .patience = 1, .min_delta = 0.5};
    EXPECT_EQ(after(rule, {1, 1.5}), (EarlyStopping{1.0, 10, 1}));
    EXPECT_EQ(after(rule, {1, 1.25, 1.75}), (EarlyStopping{1.75, 30, 0}));
    EXPECT_EQ(after(rule, {1, 0}), (EarlyStopping{1.0, 10, 1}));
}

TEST(EarlyStopping, what_is_no_number_is_never_better) {
    const EarlyStoppingSpec rule{.mode = MetricMode::min, .patience = 2};
    EXPECT_EQ(after(rule, {no_number, -std::numeric_limits<double>::infinity()}),
              (EarlyStopping{{}, 0, 2}));
    EXPECT_NE(reason_of(rule, after(rule, {no_number, no_number})).find("not a number"),
              std::string::npos);
    EXPECT_EQ(after(rule, {no_number, 3}), (EarlyStopping{3.0, 20, 0}));
    EXPECT_EQ(after(rule, {3, no_number}), (EarlyStopping{3.0, 10, 1}));
}

TEST(EarlyStopping, its_state_comes_back_from_json) {
    for (const EarlyStopping& state : {EarlyStopping{}, EarlyStopping{0.1, 40, 3}})
        EXPECT_EQ(early_stopping_from_json(to_json(state)), state);
    EXPECT_THROW(early_stopping_from_json({{"best", 1}}), Error);
    EXPECT_THROW(early_stopping_from_json({{"best", "x"}, {"best_step", 1}, {"without_better", 0}}),
                 Error);
}

}    // namespace
}    // namespace slipway
