#include "api/base/letter_case.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(LetterCase, ascii_alone_has_one) {
    EXPECT_EQ(lower_case("A-Z [\\] \xC3\x84\xC4\xB0 09"), "a-z [\\] \xC3\x84\xC4\xB0 09");
    EXPECT_TRUE(equal_ignoring_case("Content-Type", "content-TYPE"));
    for (const auto& [a, b] : {std::pair{"a", "ab"}, {"[", "{"}, {"\xC3\x84", "\xC3\xA4"}})
        EXPECT_FALSE(equal_ignoring_case(a, b)) << a;
}

}    // namespace
}    // namespace slipway
