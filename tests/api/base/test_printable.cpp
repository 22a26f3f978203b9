#include "api/base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway {
namespace {

TEST(Printable, what_a_terminal_obeys_is_shown) {
    EXPECT_EQ(printable_line("a\tb\nc"), "a\\u0009b\\u000ac");
    EXPECT_EQ(printable_text("a\tb\nc\r"), "a\tb\nc\\u000d");
    EXPECT_EQ(printable_text("\x1b[31m\x7f"), "\\u001b[31m\\u007f");
    EXPECT_EQ(printable_text("\u009b2J\u202egpj\u2066\u061c\u200f"),
              "\\u009b2J\\u202egpj\\u2066\\u061c\\u200f");
    EXPECT_EQ(printable_line(std::string_view("\0x", 2)), "\\u0000x");
}

TEST(Printable, a_line_of_text_is_told_from_others) {
    for (const std::string text : {"", "Größe – 网络 \u00a0", "\u05d0\u0627"})
        EXPECT_TRUE(is_printable_line(text)) << text;
    for (const std::string text : {"a\nb", "\x1b[31m", "\u009b", "\u061c", "\u200f", "a\u202e",
                                   "\u202a", "\u2066", "\u2069", "\xff"})
        EXPECT_FALSE(is_printable_line(text)) << text;
}

TEST(Printable, what_is_text_stays_and_what_is_none_is_replaced) {
    const std::string text = "Größe – 网络 👩‍🔬 \u00a0\ufeff";
    EXPECT_EQ(printable_line(text), text);
    // A lone C1 byte, a cut character, a surrogate, two over-long forms and one beyond Unicode.
    for (const std::string bad : {"\x9b", "\xe2\x80", "\xed\xa0\x80", "\xc0\x9b", "\xe0\x80\x9b",
                                  "\xf4\x90\x80\x80", "\xff"}) {
        std::string wanted = "a";
        for (std::size_t at = 0; at < bad.size(); ++at)
            wanted += "\ufffd";
        EXPECT_EQ(printable_line("a" + bad + "b"), wanted + "b");
    }
}

}    // namespace
}    // namespace slipway
