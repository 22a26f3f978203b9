// Goal: text is divided as GPT-2's regular expression divides it.
#include "executor/text/bpe_words.h"

#include <gtest/gtest.h>

#include "tests/executor/text/text_files.h"

namespace slipway {

namespace {

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
        end = end_of_bpe_word(text, begin);
        words.push_back(text.substr(begin, end - begin));
    }
    return words;
}

}    // namespace

TEST(BpeWords, take_the_blank_before_them) {
    using Words = std::vector<std::string>;
    EXPECT_EQ(words_of("Hello there  you"), (Words{"Hello", " there", " ", " you"}));
    EXPECT_EQ(words_of("I'll say it's 'sure' 12ab"),
              (Words{"I", "'ll", " say", " it", "'s", " '", "sure", "'", " 12", "ab"}));
    EXPECT_EQ(words_of("a\n\n b\t\n"), (Words{"a", "\n\n", " b", "\t\n"}));
    EXPECT_EQ(words_of("x \n"), (Words{"x", " \n"}));
    EXPECT_EQ(words_of(" "), (Words{" "}));
    EXPECT_EQ(words_of("'"), (Words{"'"}));
    EXPECT_EQ(words_of(""), Words{});
}

TEST(BpeWords, are_those_of_the_regular_expression) {
    Reference reference;
    const std::string text = many_scripts() + random_text(4000, 1) + wikitext(20'000);
    reference.folder.write("text", text);
    reference.ask("words", {"text"});
    if (!reference.possible) GTEST_SKIP() << "needs python3-regex";
    std::vector<std::int32_t> lengths;
    for (const std::string& word : words_of(text))
        lengths.push_back(std::int32_t(word.size()));
    EXPECT_GT(lengths.size(), 4000U);
    EXPECT_EQ(lengths, reference.lines.at(0));
}

}    // namespace slipway
