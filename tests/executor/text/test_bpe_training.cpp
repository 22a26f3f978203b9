// Goal: the merges trained are those that the definition of BPE gives, whatever the order of words.
#include "executor/text/bpe_training.h"

#include <gtest/gtest.h>

#include "tests/executor/data/make_files.h"
#include "tests/executor/text/text_files.h"

namespace slipway {

namespace {

BpeDefinition trained(const std::string& text, std::int64_t vocabulary_size) {
    const std::string_view view = text;
    return train_bpe({&view, 1}, vocabulary_size);
}

std::vector<std::string> trained(const BpeDefinition& definition) {
    return {definition.tokens.begin() + 256, definition.tokens.end() - 3};
}

}    // namespace

TEST(BpeTraining, joins_the_most_frequent_neighbours_first) {
    // "ab" six times, " ab" three times, "abc" and "xy" twice each; the rest only once.
    const BpeDefinition definition = trained("ab ab ab abc\nabc\nabc\txy\nxy", 259 + 10);
    EXPECT_EQ(trained(definition), (std::vector<std::string>{"ab", " ab", "xy", "abc"}));
    EXPECT_EQ(definition.tokens.back(), "[MASK]");
    EXPECT_EQ(definition.special.size(), 3U);
    EXPECT_EQ(trained("ab ab ab abc\nabc\nabc\txy\nxy", 260).tokens.size(), 260U);
}

TEST(BpeTraining, a_run_of_one_letter_is_joined_from_the_left) {
    EXPECT_EQ(trained(trained("aaaaa\naaaaa", 265)),
              (std::vector<std::string>{"aa", "aaa", "aaaaa"}));
}

TEST(BpeTraining, bytes_are_in_gpt2s_order) {
    const BpeDefinition definition = trained("", 259);
    EXPECT_EQ(definition.bytes['!'], 0);
    EXPECT_EQ(definition.bytes['~'], 93);
    EXPECT_EQ(definition.bytes[0xA1], 94);
    EXPECT_EQ(definition.bytes[0xFF], 187);
    EXPECT_EQ(definition.bytes[0], 188);
    EXPECT_EQ(definition.bytes['\n'], 198);    // as in GPT-2's vocabulary
    EXPECT_EQ(definition.bytes[' '], 220);
    EXPECT_EQ(definition.bytes[0xAD], 255);
}

TEST(BpeTraining, is_what_the_slow_reference_learns) {
    const std::string text = wikitext(12'000) + many_scripts() + many_scripts();
    Reference reference;
    reference.folder.write("text", text);
    reference.ask("train", {"text", "340"});
    if (!reference.possible) GTEST_SKIP() << "needs python3-regex";
    const BpeDefinition definition = trained(text, 340);
    ASSERT_EQ(definition.merges.size(), reference.lines.size());
    for (std::size_t i = 0; i < definition.merges.size(); ++i) {
        const BpeMerge& merge = definition.merges[i];
        ASSERT_EQ((std::vector<std::int32_t>{merge.left, merge.right, merge.result}),
                  reference.lines[i])
            << "merge " << i;
    }
    const std::size_t middle = text.find("\nNa") + 1;
    const std::string_view halves[] = {std::string_view(text).substr(0, middle),
                                       std::string_view(text).substr(middle)};
    EXPECT_EQ(train_bpe(halves, 340).tokens, definition.tokens);
}

TEST(BpeTraining, needs_room_for_bytes_and_special_tokens) {
    EXPECT_EQ(error_code_of([] { trained("a", 258); }), ErrorCode::invalid_argument);
    EXPECT_EQ(trained("a", 259).tokens.size(), 259U);
}

}    // namespace slipway
