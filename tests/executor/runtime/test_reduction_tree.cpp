#include "executor/runtime/reduction_tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "executor/runtime/run_plan.h"

namespace slipway {
namespace {

std::string expected_tree(int first, int count) {
    if (count == 1) return std::to_string(first);
    int left = 1;
    while (left * 2 < count)
        left *= 2;
    return "(" + expected_tree(first, left) + "+" + expected_tree(first + left, count - left) + ")";
}

/// The order of additions that partial_of and merges_after describe, as text.
std::string walked_tree(int first, int count) {
    std::vector<std::string> partials(std::size_t(partials_needed(count)));
    for (int index = 0; index < count; ++index) {
        int last = partial_of(index);
        partials[std::size_t(last)] = std::to_string(first + index);
        for (int merge = merges_after(index, count); merge > 0; --merge, --last)
            partials[std::size_t(last - 1)] =
                "(" + partials[std::size_t(last - 1)] + "+" + partials[std::size_t(last)] + ")";
        EXPECT_TRUE(index + 1 < count || last == 0);
    }
    return partials[0];
}

TEST(FixedTree, is_the_balanced_binary_tree_for_every_count) {
    EXPECT_EQ(expected_tree(0, 8), "(((0+1)+(2+3))+((4+5)+(6+7)))");
    for (int count = 1; count <= 64; ++count)
        EXPECT_EQ(walked_tree(0, count), expected_tree(0, count));
}

TEST(FixedTree, does_not_depend_on_how_the_cores_are_cut_into_blocks) {
    for (int cores = 1; cores <= 16; ++cores) {
        for (int workers = 1; workers <= cores; ++workers) {
            std::vector<std::string> roots;
            for (const CoreBlock& block : core_blocks({cores, workers}))
                roots.push_back(walked_tree(block.first, block.count));
            std::vector<std::string> waiting;
            for (int index = 0; index < int(roots.size()); ++index) {
                waiting.push_back(roots[std::size_t(index)]);
                for (int merge = merges_after(index, int(roots.size())); merge > 0; --merge) {
                    const std::string right = waiting.back();
                    waiting.pop_back();
                    waiting.back() = "(" + waiting.back() + "+" + right + ")";
                }
            }
            ASSERT_EQ(waiting.size(), 1u);
            EXPECT_EQ(waiting[0], expected_tree(0, cores)) << cores << " on " << workers;
        }
    }
}

TEST(FixedTree, holds_few_partial_sums_at_once) {
    EXPECT_EQ(partials_needed(1), 1);
    EXPECT_EQ(partials_needed(2), 2);
    EXPECT_EQ(partials_needed(4), 3);
    EXPECT_EQ(partials_needed(8), 4);
}

TEST(Combine, knows_sums_and_extremes_of_numbers_and_keeps_nan) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> from{1, 5, nan, 2};
    const auto combined = [&](Combine how) {
        std::vector<float> into{3, 4, 1, nan};
        combine(how, DType::f32, reinterpret_cast<std::byte*>(into.data()),
                reinterpret_cast<const std::byte*>(from.data()), 0, 4);
        return into;
    };
    EXPECT_EQ(combined(Combine::add)[0], 4);
    EXPECT_EQ(combined(Combine::maximum)[1], 5);
    EXPECT_EQ(combined(Combine::minimum)[0], 1);
    for (const Combine how : {Combine::add, Combine::maximum, Combine::minimum})
        for (const std::size_t i : {2u, 3u})
            EXPECT_TRUE(std::isnan(combined(how)[i])) << int(how) << " " << i;
}

}    // namespace
}    // namespace slipway
