// Goal: sentencepiece's models give what Python's sentencepiece gives.
#include <gtest/gtest.h>

#include "tests/executor/data/make_files.h"
#include "tests/executor/text/text_files.h"

namespace slipway {

TEST(Unigram, tokens_are_those_of_pythons_sentencepiece) {
    const std::string text = wikitext(60'000);
    if (text.empty()) GTEST_SKIP() << "needs the test data";
    Reference reference;
    reference.folder.write("text", text);
    reference.ask("make_unigram", {"text", "600", "model"});
    if (!reference.possible) GTEST_SKIP() << "needs python3-sentencepiece";
    const auto tokenizer =
        open_tokenizer({.type = TokenizerType::unigram, .file = "model.model"}, reference.folder);
    EXPECT_EQ(tokenizer->vocabulary_size(), 600);
    const SpecialTokens& special = tokenizer->special();
    EXPECT_EQ(special.unknown, 0);
    EXPECT_EQ(special.end_of_text, 2);
    EXPECT_EQ(special.padding, 3);
    EXPECT_TRUE(special.first && special.last && special.mask);
    EXPECT_EQ(special.all.size(), 7U);

    const std::string other = many_scripts() + random_text(500, 5) + text.substr(0, 5000);
    reference.folder.write("other", other);
    reference.ask("unigram", {"model.model", "other"});
    std::vector<std::int32_t> expected;
    for (const auto& line : reference.lines)
        expected.insert(expected.end(), line.begin(), line.end());
    EXPECT_GT(expected.size(), 2000U);
    EXPECT_EQ(tokens_of(*tokenizer, other), expected);

    const std::vector<std::int32_t> tokens = tokens_of(*tokenizer, "The quick brown fox .\n");
    EXPECT_EQ(tokenizer->decode(tokens), "The quick brown fox .");
    EXPECT_EQ(tokenizer->file().bytes, read_file(reference.folder.path() / "model.model"));
    EXPECT_EQ(error_code_of([&] { (void)tokenizer->decode(std::vector<std::int32_t>{600}); }),
              ErrorCode::invalid_argument);
}

TEST(Unigram, a_file_that_is_no_model_is_named) {
    for (const std::string& bytes : {std::string(), std::string("not a model"),
                                     std::string("\x0A\x05hello", 7), std::string(100, '\xFF')}) {
        TempFolder folder;
        folder.write("bad.model", bytes);
        const DataProblem problem = data_problem_of(
            [&] { open_tokenizer({.type = TokenizerType::unigram, .file = "bad.model"}, folder); });
        EXPECT_EQ(problem.file, "bad.model");
        EXPECT_TRUE(says(problem, "sentencepiece")) << problem.message;
    }
}

}    // namespace slipway
