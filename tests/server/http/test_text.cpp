#include "server/http/text.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Text, utf8_is_judged_as_unicode_says) {
    for (const char* good : {"", "a", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                             "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
        EXPECT_TRUE(is_valid_utf8(good)) << good;
    for (const char* bad :
         {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xc3", "\xe2\x82",
          "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff",
          "a\xc3"
          "a"})
        EXPECT_FALSE(is_valid_utf8(bad)) << bad;
}

TEST(Text, percent_escapes_are_exact) {
    EXPECT_EQ(percent_decoded("a%20%C3%bc%25"), "a \xc3\xbc%");
    for (const char* bad : {"%", "%a", "%zz", "a%2", "%+1"})
        EXPECT_FALSE(percent_decoded(bad)) << bad;
}

TEST(Text, decimals_are_digits_only) {
    EXPECT_EQ(parse_decimal("0"), 0U);
    EXPECT_EQ(parse_decimal("9999999999999999999"), 9999999999999999999U);
    for (const char* bad : {"", "+1", "-1", " 1", "1 ", "1.0", "0x1", "10000000000000000000"})
        EXPECT_FALSE(parse_decimal(bad)) << bad;
}

TEST(Text, lists_lose_their_empty_items) {
    using Items = std::vector<std::string_view>;
    EXPECT_EQ(list_items("a, b ,,c,"), (Items{"a", "b", "c"}));
    EXPECT_EQ(list_items(" , "), Items{});
}

TEST(Text, dates_are_in_the_form_of_http) {
    EXPECT_EQ(http_date(*parse_rfc3339("2026-11-20T20:37:09Z")), "Fri, 20 Nov 2026 20:37:09 GMT");
    EXPECT_EQ(http_date(*parse_rfc3339("2024-02-29T00:00:00Z")), "Thu, 29 Feb 2024 00:00:00 GMT");
}

}    // namespace
}    // namespace slipway
