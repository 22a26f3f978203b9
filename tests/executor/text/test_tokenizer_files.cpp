// Goal: a tokenizer that a job has used gives the same tokens when it is read again.
#include "executor/text/tokenizer_files.h"

#include <gtest/gtest.h>

#include "tests/executor/data/make_files.h"
#include "tests/executor/text/text_files.h"

namespace slipway {

TEST(TokenizerFiles, gives_the_same_tokens_again) {
    const std::string text = many_scripts();
    TempFolder data;
    data.write("vocab.txt", "[PAD]\n[UNK]\n[MASK]\nDon\n'\nt\nthey\n");
    for (const TokenizerOptions& options :
         {TokenizerOptions{.type = TokenizerType::byte},
          TokenizerOptions{.type = TokenizerType::character},
          TokenizerOptions{.type = TokenizerType::bpe, .vocabulary_size = 300},
          TokenizerOptions{
              .type = TokenizerType::wordpiece, .file = "vocab.txt", .lower_case = false}}) {
        const auto used = open_tokenizer(options, data, text);
        TempFolder job;
        for (const CheckpointFile& file : tokenizer_files(options, *used))
            job.write(file.name, file.bytes);
        const auto again = load_tokenizer(job.path());
        EXPECT_EQ(tokens_of(*again, text), tokens_of(*used, text));
        EXPECT_EQ(again->vocabulary_size(), used->vocabulary_size());
        EXPECT_EQ(again->special().all, used->special().all);
    }
}

TEST(TokenizerFiles, without_one_or_with_a_damaged_one_says_so) {
    TempFolder job;
    EXPECT_EQ(data_problem_of([&] { load_tokenizer(job.path()); }).file, "tokenizer_spec.json");
    job.write("tokenizer_spec.json", R"({"type": "wordpiece"})");
    EXPECT_EQ(data_problem_of([&] { load_tokenizer(job.path()); }).file, "tokenizer_spec.json");
    job.write("tokenizer_spec.json", R"({"type": "wordpiece", "file": "vocab.txt"})");
    EXPECT_EQ(data_problem_of([&] { load_tokenizer(job.path()); }).file, "vocab.txt");
}

}    // namespace slipway
