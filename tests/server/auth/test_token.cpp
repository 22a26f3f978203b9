#include "server/auth/token.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "api/base/sha256.h"

namespace slipway {
namespace {

TEST(Token, a_new_token_is_taken_apart_again) {
    const TokenText made = make_token();
    const auto parsed = parse_token(made.text);
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(parsed->lookup, made.lookup);
    EXPECT_EQ(parsed->sha256, sha256_hex(made.text));
    EXPECT_EQ(made.text.size(), 64U);
    EXPECT_TRUE(made.text.starts_with(made.lookup));
    EXPECT_TRUE(made.lookup.starts_with("slp_"));
}

TEST(Token, one_wrong_character_anywhere_is_refused) {
    const std::string text = make_token().text;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string wrong = text;
        wrong[i] = wrong[i] == 'a' ? 'b' : 'a';
        EXPECT_FALSE(parse_token(wrong).has_value()) << "character " << i;
    }
}

TEST(Token, other_text_is_refused) {
    const std::string text = make_token().text;
    for (const std::string& wrong :
         {std::string(), std::string("slp_"), text.substr(1), text + "0", text.substr(0, 63),
          std::string(64, '-'), "slp_" + std::string(60, '\xff')})
        EXPECT_FALSE(parse_token(wrong).has_value()) << wrong;
}

TEST(Token, tokens_and_secrets_do_not_repeat) {
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
        EXPECT_TRUE(seen.insert(make_token().lookup).second);
        EXPECT_TRUE(seen.insert(make_secret()).second);
    }
}

TEST(Token, a_secret_has_its_form) {
    EXPECT_TRUE(is_secret(make_secret()));
    EXPECT_FALSE(is_secret(""));
    EXPECT_FALSE(is_secret(std::string(42, 'a')));
    EXPECT_FALSE(is_secret(std::string(42, 'a') + "="));
}

TEST(Token, the_checksum_is_the_usual_crc32) {
    EXPECT_EQ(crc32("123456789"), 0xcbf43926U);
}

TEST(Token, secrets_are_compared_whole) {
    EXPECT_TRUE(same_secret("", ""));
    EXPECT_TRUE(same_secret("abc", "abc"));
    EXPECT_FALSE(same_secret("abc", "abd"));
    EXPECT_FALSE(same_secret("abc", "ab"));
}

}    // namespace
}    // namespace slipway
