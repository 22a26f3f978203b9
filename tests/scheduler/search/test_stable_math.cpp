#include "scheduler/search/stable_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "scheduler/search/random.h"

namespace slipway::search {
namespace {

double relative(double got, double wanted) {
    return std::abs(got - wanted) / std::max(std::abs(wanted), 1e-300);
}

TEST(StableMath, exp_and_log_agree_with_the_library) {
    Draws draws(1, DrawSite::random, 0);
    for (int i = 0; i < 20000; ++i) {
        const double x = (draws.next_uniform() - 0.5) * 1400;
        EXPECT_LE(relative(stable_exp(x), std::exp(x)), 1e-15) << x;
        const double y = std::exp((draws.next_uniform() - 0.5) * 600);
        EXPECT_LE(relative(stable_log(y), std::log(y)), 1e-15) << y;
        const double near_one = 1 + (draws.next_uniform() - 0.5) * 1e-3;
        EXPECT_LE(relative(stable_log(near_one), std::log(near_one)), 1e-15) << near_one;
    }
    EXPECT_EQ(stable_exp(0), 1);
    EXPECT_EQ(stable_log(1), 0);
    EXPECT_EQ(stable_exp(-800), 0);
    EXPECT_TRUE(std::isinf(stable_exp(710)));
}

TEST(StableMath, the_normal_distribution_agrees_with_erfc) {
    for (int i = -3700; i <= 3700; ++i) {
        const double x = i / 100.0;
        EXPECT_LE(relative(normal_cdf(x), 0.5 * std::erfc(-x / std::sqrt(2.0))), 4e-13) << x;
    }
}

double whole_normal_cdf(double x) {
    const double phi = 0.39894228040143267794 * stable_exp(-0.5 * x * x);
    if (std::abs(x) >= 3) {
        double fraction = std::abs(x);
        for (int k = 120; k >= 1; --k)
            fraction = std::abs(x) + double(k) / fraction;
        return x < 0 ? phi / fraction : 1 - phi / fraction;
    }
    double term = x;
    double sum = x;
    for (int n = 3; n < 121; n += 2) {
        term = term * x * x / double(n);
        sum += term;
    }
    return 0.5 + phi * sum;
}

// Goal: terms that are passed over change no bit, nor do other numbers of a block.
// Method: the series and the fraction with all terms, one number after the other.
TEST(StableMath, many_numbers_have_the_bits_of_each) {
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> numbers{0,        -0.0,      3,           -3,    std::nextafter(3, 0),
                                38.5,     -38.5,     709.7,       -745., -800,
                                40,       1e-300,    -1e-300,     1e300, -1e300,
                                infinity, -infinity, std::nan("")};
    Draws draws(3, DrawSite::random, 0);
    for (int i = 0; i < 20003; ++i)
        numbers.push_back((draws.next_uniform() - 0.5) * (i % 3 == 0 ? 80 : i % 3 == 1 ? 20 : 8));
    std::vector<double> exps = numbers;
    replace_by_exp(exps);
    std::vector<double> masses = numbers;
    replace_by_normal_cdf(masses);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double x = numbers[i];
        if (std::isnan(x)) {
            EXPECT_TRUE(std::isnan(exps[i]) && std::isnan(masses[i]));
            continue;
        }
        EXPECT_EQ(exps[i], stable_exp(x)) << x;
        EXPECT_EQ(masses[i], whole_normal_cdf(x)) << x;
        EXPECT_EQ(normal_cdf(x), masses[i]) << x;
    }
    replace_by_exp({});
    replace_by_normal_cdf({});
}

TEST(StableMath, the_quantile_is_the_inverse) {
    for (int i = 1; i < 1000; ++i) {
        const double p = i / 1000.0;
        EXPECT_LE(std::abs(normal_cdf(normal_quantile(p)) - p), 1e-14) << p;
    }
    EXPECT_LE(relative(normal_cdf(normal_quantile(1e-14)), 1e-14), 1e-11);
    EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
}

// Goal: another machine, compiler or library computes the same bits.
// Method: bits pinned when the functions were written, over their ranges.
TEST(StableMath, results_are_the_same_bits_everywhere) {
    std::uint64_t hash = 0;
    for (int i = 1; i <= 1000; ++i) {
        const double x = i * 0.01;
        for (const double value :
             {stable_exp(x - 5), stable_log(x), normal_cdf(x - 5), normal_quantile(i / 1001.0)})
            hash = mixed_bits(hash + std::bit_cast<std::uint64_t>(value));
    }
    EXPECT_EQ(hash, 4710418691816483689U);
}

TEST(StableMath, decimals_are_short) {
    EXPECT_EQ(rounded_decimal(0.1 + 2 * 0.1), 0.3);
    EXPECT_EQ(rounded_decimal(1e-5), 1e-5);
    EXPECT_EQ(rounded_decimal(-123456.0), -123456.0);
}

}    // namespace
}    // namespace slipway::search
