#include "api/base/plural.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace slipway {
namespace {

TEST(Plural, one_alone_takes_the_singular) {
    EXPECT_EQ(counted(1, "node"), "1 node");
    EXPECT_EQ(counted(0, "node"), "0 nodes");
    EXPECT_EQ(counted(2, "node"), "2 nodes");
    EXPECT_EQ(counted(-1, "step"), "-1 steps");
    EXPECT_EQ(counted(1.0, "request"), "1 request");
    EXPECT_EQ(counted(0.5, "request"), "0.5 requests");
}

TEST(Plural, takes_an_irregular_plural_and_any_whole_number) {
    EXPECT_EQ(counted(std::size_t{1}, "class", "classes"), "1 class");
    EXPECT_EQ(counted(std::int64_t{5000000000}, "class", "classes"), "5000000000 classes");
}

}    // namespace
}    // namespace slipway
