#include "scheduler/search/random.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace slipway::search {
namespace {

TEST(Draws, numbers_depend_on_the_key_alone) {
    Draws one(7, DrawSite::tpe, 3);
    Draws other(7, DrawSite::tpe, 3);
    Draws(7, DrawSite::tpe, 4).next_u64();
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(one.next_u64(), other.next_u64());
}

TEST(Draws, every_part_of_the_key_matters) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (const DrawSite site : {DrawSite::random, DrawSite::sobol, DrawSite::tpe})
            for (std::uint64_t index = 0; index < 20; ++index)
                seen.insert(Draws(seed, site, index).next_u64());
    EXPECT_EQ(seen.size(), 20u * 3 * 20);
}

TEST(Draws, uniform_numbers_are_uniform) {
    Draws draws(1, DrawSite::random, 0);
    std::array<int, 10> counts{};
    double sum = 0;
    for (int i = 0; i < 100000; ++i) {
        const double u = draws.next_uniform();
        ASSERT_TRUE(u >= 0 && u < 1);
        sum += u;
        ++counts[std::size_t(u * 10)];
    }
    EXPECT_NEAR(sum / 100000, 0.5, 0.004);    // four deviations
    for (const int count : counts)
        EXPECT_NEAR(count, 10000, 400);
}

TEST(Draws, below_reaches_every_number) {
    Draws draws(1, DrawSite::random, 0);
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 200; ++i)
        seen.insert(draws.next_below(7));
    EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5, 6}));
}

}    // namespace
}    // namespace slipway::search
