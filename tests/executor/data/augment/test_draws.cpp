// Goal: what is drawn has torchvision's distribution.
// Method: 20,000 draws; means within five deviations of the mean, all within their bounds.
#include "executor/data/augment/draws.h"

#include <gtest/gtest.h>

#include <cmath>

namespace slipway {

namespace {

constexpr int draws = 20'000;

Image empty_image(std::int64_t height, std::int64_t width) {
    return {1, height, width, {}};
}

bool within(const Box& box, const Image& image) {
    return box.top >= 0 && box.left >= 0 && box.height > 0 && box.width > 0 &&
           box.top + box.height <= image.height && box.left + box.width <= image.width;
}

}    // namespace

TEST(Draws, every_place_of_a_crop_is_as_likely) {
    const Image image = empty_image(6, 5);
    std::vector<int> counts(12, 0);
    for (int i = 0; i < draws; ++i) {
        RandomStream random(1, site_augment, std::uint64_t(i));
        const Box box = draw_crop(random, image, 3, 3);
        ASSERT_TRUE(within(box, image));
        ++counts[std::size_t(box.top * 3 + box.left)];
    }
    const double mean = draws / 12.0;
    for (const int count : counts)
        EXPECT_NEAR(count, mean, 5 * std::sqrt(mean));
}

TEST(Draws, areas_are_uniform_and_ratios_too_by_their_logarithm) {
    const Image image = empty_image(1000, 1000);
    const Range area{0.08, 0.5}, ratio{3.0 / 4, 4.0 / 3};
    double areas = 0, logarithms = 0;
    for (int i = 0; i < draws; ++i) {
        RandomStream random(2, site_augment, std::uint64_t(i));
        const Box box = draw_resized_crop(random, image, area, ratio);
        ASSERT_TRUE(within(box, image));
        const double share = double(box.height * box.width) / 1e6;
        const double log_ratio = std::log(double(box.width) / double(box.height));
        ASSERT_GT(share, 0.08 - 0.002);    // sides are rounded
        ASSERT_LT(share, 0.5 + 0.002);
        ASSERT_LT(std::abs(log_ratio), std::log(4.0 / 3) + 0.01);
        areas += share;
        logarithms += log_ratio;
    }
    EXPECT_NEAR(areas / draws, 0.29, 5 * 0.42 / std::sqrt(12.0 * draws));
    EXPECT_NEAR(logarithms / draws, 0, 5 * 2 * std::log(4.0 / 3) / std::sqrt(12.0 * draws));
}

// Variance of Beta(a, a): 1 / (4 (2a + 1)); the deviation of a mean of squares is below 1/4.
TEST(Draws, shares_have_the_moments_of_a_beta_distribution) {
    for (const double alpha : {0.05, 0.2, 1.0, 8.0, 1000.0}) {
        double sum = 0, squares = 0;
        for (int i = 0; i < draws; ++i) {
            RandomStream random(3, site_mix, std::uint64_t(i));
            const double share = draw_beta(random, alpha);
            ASSERT_GE(share, 0);
            ASSERT_LE(share, 1);
            sum += share;
            squares += (share - 0.5) * (share - 0.5);
        }
        const double variance = 1 / (4 * (2 * alpha + 1));
        EXPECT_NEAR(sum / draws, 0.5, 5 * std::sqrt(variance / draws)) << alpha;
        EXPECT_NEAR(squares / draws, variance, 5 * 1.5 * variance / std::sqrt(draws)) << alpha;
    }
}

TEST(Draws, an_image_too_long_for_any_ratio_gives_its_middle) {
    const Range area{0.9, 1}, ratio{3.0 / 4, 4.0 / 3};
    RandomStream random(3, site_augment, 0);
    EXPECT_EQ(draw_resized_crop(random, empty_image(30, 300), area, ratio), (Box{0, 130, 30, 40}));
    EXPECT_EQ(draw_resized_crop(random, empty_image(300, 30), area, ratio), (Box{130, 0, 40, 30}));
}

TEST(Draws, what_is_erased_is_smaller_than_the_image_or_nothing) {
    for (int i = 0; i < 1000; ++i) {
        RandomStream random(4, site_augment, std::uint64_t(i));
        const Image image = empty_image(20, 20);
        const Box box = draw_erased(random, image, {0.2, 0.4}, {0.5, 2});
        EXPECT_TRUE(within(box, image));
        const double share = double(box.height * box.width) / 400;
        EXPECT_GT(share, 0.15);
        EXPECT_LT(share, 0.46);
    }
    RandomStream random(5, site_augment, 0);
    EXPECT_EQ(draw_erased(random, empty_image(2, 2), {1, 1}, {1, 1}), Box{});
}

}    // namespace slipway
