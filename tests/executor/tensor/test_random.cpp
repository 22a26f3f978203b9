#include "executor/tensor/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace slipway {
namespace {

using testing::ElementsAre;

// The known answers published with the Random123 library for philox4x32 with 10 rounds.
TEST(Philox, gives_the_known_answers) {
    EXPECT_THAT(philox({0, 0, 0, 0}, {0, 0}),
                ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
    const std::uint32_t ones = 0xffffffff;
    EXPECT_THAT(philox({ones, ones, ones, ones}, {ones, ones}),
                ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
    EXPECT_THAT(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
                ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(RandomStream, begins_with_the_block_of_its_name) {
    RandomStream stream(0, 0, 0);
    EXPECT_EQ(stream.next_u32(), 0x6627e8d5u);
    EXPECT_EQ(stream.next_u32(), 0xe169c58du);
    EXPECT_EQ(stream.position(), 2u);
}

TEST(RandomStream, same_name_gives_the_same_numbers) {
    RandomStream once(7, site_shuffle, 3);
    RandomStream again(7, site_shuffle, 3);
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(once.next_u64(), again.next_u64());
}

TEST(RandomStream, every_part_of_the_name_counts) {
    std::set<std::uint64_t> first_numbers;
    for (const auto& [seed, site, index] : {std::tuple{0ull, 1u, 0ull},
                                            {1ull, 1u, 0ull},
                                            {1ull << 32, 1u, 0ull},
                                            {0ull, 2u, 0ull},
                                            {0ull, 1u, 1ull},
                                            {0ull, 1u, 1ull << 32}}) {
        EXPECT_TRUE(first_numbers.insert(RandomStream(seed, site, index).next_u64()).second);
    }
}

TEST(RandomStream, goes_on_from_any_position_as_if_it_had_been_drawn_to_there) {
    std::vector<std::uint32_t> numbers;
    RandomStream all(7, site_init, 3);
    for (int i = 0; i < 20; ++i)
        numbers.push_back(all.next_u32());
    RandomStream stream(7, site_init, 3);
    for (const std::size_t position : {9u, 0u, 4u, 3u, 13u, 8u}) {
        stream.seek(position);
        EXPECT_EQ(stream.position(), position);
        for (std::size_t i = position; i < position + 6; ++i)
            EXPECT_EQ(stream.next_u32(), numbers[i]) << i << " from " << position;
    }
}

// Goal: numbers spread evenly. Method: chi-squared over 64 bins; 63 degrees of freedom exceed 140
// once in ten million runs, and the seed is fixed.
template <class Draw>
double chi_squared(std::uint64_t bins, Draw&& draw) {
    constexpr int count = 64000;
    std::vector<double> hits(bins, 0);
    for (int i = 0; i < count; ++i)
        ++hits.at(draw());
    const double expected = double(count) / double(bins);
    double sum = 0;
    for (const double n : hits)
        sum += (n - expected) * (n - expected) / expected;
    return sum;
}

TEST(RandomStream, uniform_numbers_spread_evenly_in_0_to_1) {
    RandomStream stream(1, site_init, 0);
    EXPECT_LT(chi_squared(64, [&] { return std::size_t(stream.next_uniform() * 64); }), 140);
}

TEST(RandomStream, uniform_numbers_stay_below_1) {
    RandomStream stream(2, site_init, 0);
    for (int i = 0; i < 100000; ++i) {
        const float value = stream.next_uniform();
        ASSERT_TRUE(value >= 0 && value < 1) << value;
    }
}

TEST(RandomStream, numbers_below_a_bound_spread_evenly) {
    RandomStream stream(3, site_shuffle, 0);
    EXPECT_LT(chi_squared(64, [&] { return stream.next_below(64); }), 140);
    // 3 * 2^62: a plain remainder would favour the lower third, by 2 to 1.
    const std::uint64_t bound = std::uint64_t{3} << 62;
    EXPECT_LT(chi_squared(3, [&] { return stream.next_below(bound) >> 62; }), 30);
}

TEST(RandomStream, below_one_is_always_zero) {
    RandomStream stream(4, site_shuffle, 0);
    EXPECT_EQ(stream.next_below(1), 0u);
}

// 100,000 draws: the mean is within 5 deviations of 1/sqrt(n), the variance of sqrt(2/n).
TEST(RandomStream, normal_numbers_have_mean_0_and_deviation_1) {
    RandomStream stream(5, site_init, 0);
    constexpr int count = 100000;
    double sum = 0, sum_of_squares = 0;
    for (int i = 0; i < count; ++i) {
        const double value = stream.next_normal();
        ASSERT_TRUE(std::isfinite(value));
        sum += value;
        sum_of_squares += value * value;
    }
    EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(double(count)));
    EXPECT_NEAR(sum_of_squares / count, 1, 5 * std::sqrt(2.0 / count));
}

}    // namespace
}    // namespace slipway
