#include "scheduler/search/sobol.h"

#include <gtest/gtest.h>

#include <boost/random/sobol.hpp>
#include <set>

namespace slipway::search {
namespace {

// The table that Joe and Kuo publish with their program (sobol 10 3 new-joe-kuo-6.21201).
TEST(Sobol, points_are_those_of_the_published_table) {
    const double published[10][3] = {{0, 0, 0},
                                     {0.5, 0.5, 0.5},
                                     {0.75, 0.25, 0.25},
                                     {0.25, 0.75, 0.75},
                                     {0.375, 0.375, 0.625},
                                     {0.875, 0.875, 0.125},
                                     {0.625, 0.125, 0.875},
                                     {0.125, 0.625, 0.375},
                                     {0.1875, 0.3125, 0.9375},
                                     {0.6875, 0.8125, 0.4375}};
    const SobolSequence sequence(3, std::nullopt);
    for (std::uint32_t i = 0; i < 10; ++i)
        EXPECT_EQ(sequence.point(i),
                  std::vector<double>(std::begin(published[i]), std::end(published[i])))
            << i;
}

// Goal: all 128 dimensions, to the last bit.
// Method: Boost's engine, which leaves the first point out and draws coordinate after coordinate.
TEST(Sobol, points_are_those_of_boost_in_every_dimension) {
    const SobolSequence sequence(sobol_dimensions_max, std::nullopt);
    boost::random::sobol_engine<std::uint32_t, 32> engine(sobol_dimensions_max);
    for (std::uint32_t i = 1; i < 1100; ++i) {
        const std::vector<double> point = sequence.point(i);
        for (std::size_t dimension = 0; dimension < sobol_dimensions_max; ++dimension)
            ASSERT_EQ(point[dimension], double(engine()) * 0x1p-32) << i << " " << dimension;
    }
}

// Goal: scrambling keeps the sequence as even as it was.
// Method: in each dimension the first 2^m points fall into 2^m equal intervals, one in each; in the
// first two dimensions into every 2^a by 2^(m - a) rectangle.
TEST(Sobol, scrambled_points_are_as_evenly_spread) {
    for (const std::uint64_t seed : {1U, 2U, 77U}) {
        const SobolSequence sequence(64, seed);
        std::vector<std::vector<double>> points;
        for (std::uint32_t i = 0; i < 256; ++i)
            points.push_back(sequence.point(i));
        for (std::size_t dimension = 0; dimension < 64; ++dimension) {
            std::set<int> cells;
            for (const auto& point : points)
                cells.insert(int(point[dimension] * 256));
            EXPECT_EQ(cells.size(), 256u) << seed << " " << dimension;
        }
        for (int a = 0; a <= 8; ++a) {
            std::set<std::pair<int, int>> cells;
            for (const auto& point : points)
                cells.insert({int(point[0] * (1 << a)), int(point[1] * (1 << (8 - a)))});
            EXPECT_EQ(cells.size(), 256u) << seed << " " << a;
        }
    }
}

TEST(Sobol, seeds_give_other_points) {
    EXPECT_NE(SobolSequence(5, 1).point(3), SobolSequence(5, 2).point(3));
    EXPECT_EQ(SobolSequence(5, 1).point(3), SobolSequence(5, 1).point(3));
}

}    // namespace
}    // namespace slipway::search
