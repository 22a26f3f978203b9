#include "executor/bench/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway {
namespace {

TEST(BenchInputs, are_the_same_for_any_number_of_cores) {
    BenchInputs alone(8, 1), shared(8, 4);
    EXPECT_EQ(alone.normal("x", {3}).dims(), (Dims{8, 3}));
    EXPECT_EQ(shared.normal("x", {3}).dims(), (Dims{2, 3}));
    const Array whole = alone.all()[0].values();
    const Array other = shared.all()[0].values();
    ASSERT_TRUE(std::ranges::equal(whole.as<float>(), other.as<float>()));
    for (int core = 0; core < 4; ++core) {
        const Array part = part_of(whole, core, 4);
        EXPECT_TRUE(std::ranges::equal(part.as<float>(),
                                       whole.as<float>().subspan(std::size_t(core) * 6, 6)));
    }
}

TEST(BenchInputs, integers_fill_their_range_and_nothing_else) {
    BenchInputs inputs(100, 1);
    inputs.integers("labels", {}, 3, 7);
    const Array made = inputs.all()[0].values();
    const auto values = made.as<std::int32_t>();
    EXPECT_EQ(*std::ranges::min_element(values), 3);
    EXPECT_EQ(*std::ranges::max_element(values), 6);
}

TEST(BenchInputs, choices_of_a_sample_rise_and_differ) {
    BenchInputs inputs(50, 1);
    inputs.choices("positions", 5, 8);
    const Array made = inputs.all()[0].values();
    const auto values = made.as<std::int32_t>();
    for (std::size_t sample = 0; sample < 50; ++sample) {
        const auto chosen = values.subspan(sample * 5, 5);
        EXPECT_TRUE(std::ranges::is_sorted(chosen, std::ranges::less_equal{}));
        EXPECT_GE(chosen.front(), 0);
        EXPECT_LT(chosen.back(), 8);
    }
}

}    // namespace
}    // namespace slipway
