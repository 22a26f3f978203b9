#include "executor/data/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway {

TEST(Utf8, is_told_from_other_bytes) {
    for (const char* good : {"", "a", "\xC2\x80", "\xC3\xA9", "\xE0\xA0\x80", "\xED\x9F\xBF",
                             "\xEF\xBF\xBF", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF", "x\xC3\xA9y"})
        EXPECT_TRUE(is_utf8(good)) << good;
    for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x9F\xBF",
                            "\xED\xA0\x80", "\xE2\x82", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
                            "\xF5\x80\x80\x80", "\xFF", "a\xE2\x82("})
        EXPECT_FALSE(is_utf8(bad)) << bad;
}

TEST(Utf8, the_first_bad_byte_is_found_wherever_it_is) {
    for (std::size_t before = 0; before < 20; ++before) {
        const std::string good = std::string(before, 'x') + "\xC3\xA9";
        EXPECT_EQ(first_bad_utf8(good), std::nullopt);
        EXPECT_EQ(first_bad_utf8(good + "\xFFyyyyyyyyy"), before + 2);
        EXPECT_EQ(first_bad_utf8(good.substr(0, before + 1)), before);
    }
}

}    // namespace slipway
