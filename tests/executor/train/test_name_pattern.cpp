#include "executor/train/name_pattern.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(NamePattern, a_star_stands_for_any_text_and_all_else_for_itself) {
    EXPECT_TRUE(matches("fc.weight", "fc.weight"));
    EXPECT_TRUE(matches("*", "fc.weight"));
    EXPECT_TRUE(matches("*", ""));
    EXPECT_TRUE(matches("layer1.*", "layer1.0.conv1.weight"));
    EXPECT_TRUE(matches("*.bias", "layer1.0.bn1.bias"));
    EXPECT_TRUE(matches("layer*.bn*.weight", "layer1.0.bn1.weight"));
    EXPECT_TRUE(matches("*.0.*.0.*", "a.0.b.0.0.c"));
    EXPECT_TRUE(matches("fc**", "fc"));
}

TEST(NamePattern, what_is_left_over_on_either_side_is_no_match) {
    EXPECT_FALSE(matches("fc", "fc.weight"));
    EXPECT_FALSE(matches("weight", "fc.weight"));
    EXPECT_FALSE(matches("layer1.*", "layer10.weight"));
    EXPECT_FALSE(matches("*.bias", "fc.bias_scale"));
    EXPECT_FALSE(matches("", "fc"));
    EXPECT_FALSE(matches("fc.?eight", "fc.weight"));
    EXPECT_FALSE(matches("a*b*c", "a.b"));
}

}    // namespace
}    // namespace slipway
