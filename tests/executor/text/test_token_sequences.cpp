// Goal: every token of a text is in a row, and rows can be divided as samples are.
#include "executor/text/token_sequences.h"

#include <gtest/gtest.h>

#include <set>

#include "executor/data/split.h"
#include "tests/executor/data/make_files.h"
#include "tests/executor/text/text_files.h"

namespace slipway {

namespace {

using Tokens = std::vector<std::int32_t>;

TokenSequences rows_of(const std::string& text, const CutOptions& cut) {
    TempFolder folder;
    folder.write("train.txt", text);
    return open_token_sequences(folder.path(), {}, cut).sequences;
}

/// The real tokens of all rows, without what they repeat.
Tokens joined(const TokenSequences& rows, std::int64_t overlap) {
    Tokens tokens;
    for (std::int64_t i = 0; i < rows.count(); ++i) {
        const auto real = rows.row(i).first(std::size_t(rows.token_counts[std::size_t(i)]));
        tokens.insert(tokens.end(), real.begin() + (i == 0 ? 0 : overlap), real.end());
    }
    return tokens;
}

}    // namespace

TEST(TokenSequences, the_last_row_is_padded) {
    const TokenSequences rows = rows_of("abcdefg", {.length = 3});
    EXPECT_EQ(rows.tokens, (Tokens{97, 98, 99, 100, 101, 102, 103, 256, 256}));
    EXPECT_EQ(rows.token_counts, (Tokens{3, 3, 1}));
    EXPECT_EQ(rows.vocabulary_size, 258);
    EXPECT_EQ(rows.padding, 256);
    EXPECT_EQ(rows.mask, 257);
    EXPECT_EQ(rows.special, (Tokens{256, 257}));
    EXPECT_TRUE(rows.parts.empty() && rows.part_names.empty());
}

// Method: all lengths of text, rows and overlap up to a few rows: nothing is lost or twice.
TEST(TokenSequences, no_token_is_lost_whatever_the_lengths) {
    for (const std::size_t count : {1, 2, 3, 4, 5, 7, 8, 9, 12}) {
        const std::string text = std::string("abcdefghijklmnopqrstuvwxyz").substr(0, count);
        for (std::int64_t length = 2; length < 6; ++length) {
            for (std::int64_t overlap = 0; overlap < length; ++overlap) {
                const TokenSequences rows = rows_of(text, {.length = length, .overlap = overlap});
                ASSERT_EQ(joined(rows, overlap), Tokens(text.begin(), text.end()))
                    << count << " " << length << " " << overlap;
                ASSERT_EQ(std::int64_t(rows.tokens.size()), rows.count() * length);
            }
        }
    }
}

TEST(TokenSequences, first_and_last_token_go_around_every_row) {
    TempFolder folder;
    folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n");
    folder.write("train.txt", "a b a\nb a");
    folder.write("valid.txt", "b");
    const TokenizerOptions options{.type = TokenizerType::wordpiece, .file = "vocab.txt"};
    const auto [tokenizer, rows] = open_token_sequences(folder.path(), options, {.length = 5});
    EXPECT_EQ(rows.tokens, (Tokens{2, 5, 6, 5, 3, 2, 6, 5, 3, 0, 2, 6, 3, 0, 0}));
    EXPECT_EQ(rows.token_counts, (Tokens{5, 4, 3}));
    EXPECT_EQ(rows.part_names, (std::vector<std::string>{"train", "valid"}));
    EXPECT_EQ(rows.parts, (Tokens{0, 0, 1}));
    EXPECT_EQ(rows.unknown, 1);
    const auto plain =
        open_token_sequences(folder.path(), options, {.length = 5, .framed = false}).sequences;
    EXPECT_EQ(plain.tokens, (Tokens{5, 6, 5, 6, 5, 6, 0, 0, 0, 0}));
}

TEST(TokenSequences, rows_are_split_like_samples) {
    TempFolder folder;
    folder.write("train.txt", std::string(400, 'a'));
    folder.write("valid.txt", std::string(80, 'b'));
    const auto rows = open_token_sequences(folder.path(), {}, {.length = 4}).sequences;
    const DatasetIndex index = index_of(rows);
    const Split named = split_by_parts(index, "train", "valid");
    EXPECT_EQ(named.train.size(), 100U);
    EXPECT_EQ(named.val.size(), 20U);
    for (const std::int64_t row : named.val)
        EXPECT_EQ(rows.row(row)[0], 'b');
    EXPECT_EQ(split_samples(index, {.val_fraction = 0.25}).val.size(), 30U);
    EXPECT_EQ(error_code_of([&] { split_by_parts(index, "train", "test"); }),
              ErrorCode::invalid_argument);
}

TEST(TokenSequences, a_tokenizer_learns_from_the_training_part_alone) {
    TempFolder folder;
    folder.write("train.txt", "abba");
    folder.write("valid.txt", "abc");
    const TokenizerOptions characters{.type = TokenizerType::character};
    EXPECT_EQ(
        open_token_sequences(folder.path(), characters, {}, "train").sequences.vocabulary_size, 5);
    EXPECT_EQ(open_token_sequences(folder.path(), characters, {}).sequences.vocabulary_size, 6);
    EXPECT_EQ(error_code_of([&] { open_token_sequences(folder.path(), characters, {}, "tain"); }),
              ErrorCode::invalid_argument);
}

TEST(TokenSequences, what_cannot_be_cut_is_refused) {
    for (const CutOptions& cut : {CutOptions{.length = 1}, CutOptions{.length = 4, .overlap = 4},
                                  CutOptions{.length = 4, .overlap = -1}}) {
        EXPECT_EQ(error_code_of([&] { rows_of("abc", cut); }), ErrorCode::invalid_argument);
    }
    EXPECT_TRUE(says(data_problem_of([] { rows_of("", {}); }), "no text"));
    EXPECT_EQ(data_problem_of([] { rows_of("a\n\xFF", {}); }).row, 2);
    TempFolder blank;
    blank.write("vocab.txt", "[UNK]\n");
    blank.write("train.txt", " \n ");
    EXPECT_TRUE(says(data_problem_of([&] {
                         open_token_sequences(
                             blank.path(), {.type = TokenizerType::wordpiece, .file = "vocab.txt"},
                             {});
                     }),
                     "no tokens"));
}

TEST(TokenSequences, shakespeare_by_characters_comes_back) {
    if (test_data_folder().empty()) GTEST_SKIP() << "needs the test data";
    const std::string text =
        read_file(test_data_folder() / "tinyshakespeare" / "input.txt").substr(0, 100'000);
    TempFolder folder;
    folder.write("input.txt", text);
    const auto [tokenizer, rows] =
        open_token_sequences(folder.path(), {.type = TokenizerType::character}, {});
    const std::set<char> characters(text.begin(), text.end());
    EXPECT_EQ(tokenizer->vocabulary_size(), std::int64_t(characters.size()) + 3);
    EXPECT_EQ(rows.count(), (100'000 + 127) / 128);
    EXPECT_EQ(tokenizer->decode(joined(rows, 0)), text);
}

}    // namespace slipway
