// Goal: bytes and characters, and what all tokenizers have in common.
#include <gtest/gtest.h>

#include "tests/executor/data/make_files.h"
#include "tests/executor/text/text_files.h"

namespace slipway {

TEST(ByteTokenizer, numbers_are_bytes_and_any_text_comes_back) {
    const TempFolder folder;
    const auto tokenizer = open_tokenizer({.type = TokenizerType::byte}, folder);
    EXPECT_EQ(tokenizer->vocabulary_size(), 258);
    EXPECT_EQ(tokens_of(*tokenizer, "a\xC3\xA9"), (std::vector<std::int32_t>{97, 195, 169}));
    EXPECT_EQ(tokenizer->special().padding, 256);
    EXPECT_EQ(tokenizer->special().mask, 257);
    std::string every;
    for (int byte = 0; byte < 256; ++byte)
        every += char(byte);
    EXPECT_EQ(tokenizer->decode(tokens_of(*tokenizer, every)), every);
    EXPECT_EQ(tokenizer->decode(std::vector<std::int32_t>{257, 97, 256}), "[MASK]a[PAD]");
    EXPECT_TRUE(tokenizer->file().name.empty());
    for (const std::int32_t wrong : {-1, 258}) {
        EXPECT_EQ(error_code_of([&] { (void)tokenizer->decode(std::vector{wrong}); }),
                  ErrorCode::invalid_argument);
    }
}

TEST(CharacterTokenizer, has_the_characters_of_the_training_text_in_order) {
    TempFolder folder;
    const auto tokenizer =
        open_tokenizer({.type = TokenizerType::character}, folder, "b\xC3\xA9\nab\xF0\x9F\x98\x80");
    EXPECT_EQ(tokenizer->vocabulary_size(), 3 + 5);
    EXPECT_EQ(tokens_of(*tokenizer, "\nab\xC3\xA9\xF0\x9F\x98\x80z"),
              (std::vector<std::int32_t>{3, 4, 5, 6, 7, 1}));
    EXPECT_EQ(tokenizer->special().all, (std::vector<std::int32_t>{0, 1, 2}));
    folder.write("characters.json", tokenizer->file().bytes);
    const auto again =
        open_tokenizer({.type = TokenizerType::character, .file = "characters.json"}, folder, "q");
    EXPECT_EQ(again->file().bytes, tokenizer->file().bytes);
    const std::string text = "b\xC3\xA9\n\xF0\x9F\x98\x80";
    EXPECT_EQ(tokens_of(*again, text), tokens_of(*tokenizer, text));
    EXPECT_EQ(again->decode(tokens_of(*again, text)), text);
    const std::string all = many_scripts();
    const auto whole = open_tokenizer({.type = TokenizerType::character}, folder, all);
    EXPECT_EQ(whole->decode(tokens_of(*whole, all)), all);
}

TEST(CharacterTokenizer, a_bad_file_is_named) {
    for (const auto& [bytes, words] : {std::pair("{}", "not a JSON list"),
                                       {"[\"a\",\"bc\"]", "item 1"},
                                       {"[1]", "item 0"},
                                       {"[\"a\",\"b\",\"a\"]", "twice"},
                                       {"[\"a\"", "line 1"}}) {
        TempFolder folder;
        folder.write("c.json", bytes);
        const DataProblem problem = data_problem_of(
            [&] { open_tokenizer({.type = TokenizerType::character, .file = "c.json"}, folder); });
        EXPECT_EQ(problem.file, "c.json");
        EXPECT_TRUE(says(problem, words)) << problem.message;
    }
}

}    // namespace slipway
