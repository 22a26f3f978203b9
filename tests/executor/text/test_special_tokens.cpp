#include <gtest/gtest.h>

#include "executor/text/special_names.h"
#include "executor/text/written_tokens.h"

namespace slipway {

namespace {

/// "plain" as it is, tokens as "<number>".
std::string divided(const WrittenTokens& tokens, const std::string& text) {
    std::string said;
    tokens.divide(
        text, [&](std::string_view plain) { said += "(" + std::string(plain) + ")"; },
        [&](std::int32_t token) { said += std::to_string(token); });
    return said;
}

}    // namespace

TEST(SpecialNames, tell_what_a_token_stands_for) {
    const SpecialTokens special = known_special_tokens(
        {{"<mask>", 9}, {"<s>", 0}, {"<pad>", 1}, {"[PAD]", 5}, {"<|endoftext|>", 2}});
    EXPECT_EQ(special.mask, 9);
    EXPECT_EQ(special.padding, 1);    // the first of two
    EXPECT_EQ(special.end_of_text, 2);
    EXPECT_EQ(special.unknown, std::nullopt);
    EXPECT_EQ(special.first, std::nullopt);
    EXPECT_EQ(special.all, (std::vector<std::int32_t>{0, 1, 2, 5, 9}));
}

TEST(WrittenTokens, are_found_from_the_left_and_the_longest_first) {
    const WrittenTokens tokens(
        {{.text = "<a>", .token = 1}, {.text = "<a><b>", .token = 2}, {.text = "b>x", .token = 3}});
    EXPECT_EQ(divided(tokens, "<a>"), "1");
    EXPECT_EQ(divided(tokens, "x<a><b>x<a>y"), "(x)2(x)1(y)");
    EXPECT_EQ(divided(tokens, "<a><a>b>x"), "113");
    EXPECT_EQ(divided(tokens, ""), "");
    EXPECT_EQ(divided(tokens, "nothing <b>"), "(nothing <b>)");
    EXPECT_EQ(divided(WrittenTokens({}), "plain"), "(plain)");
}

TEST(WrittenTokens, can_take_the_blanks_beside_them) {
    const WrittenTokens tokens({{.text = "<l>", .token = 1, .takes_spaces_before = true},
                                {.text = "<r>", .token = 2, .takes_spaces_after = true}});
    EXPECT_EQ(divided(tokens, "a \n<l> b <r>  c"), "(a)1( b )2(c)");
    EXPECT_EQ(divided(tokens, "  <l><r>  "), "12");
}

}    // namespace slipway
