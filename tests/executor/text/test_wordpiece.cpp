// Goal: WordPiece gives BERT's tokens; a bad vocabulary is named with its row.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "executor/text/basic_tokenizer.h"
#include "executor/text/code_points.h"
#include "tests/executor/data/make_files.h"
#include "tests/executor/text/text_files.h"

namespace slipway {

namespace {

// The vocabulary of the unit test in BERT's own repository (tokenization_test.py), with masks.
const std::string small_vocabulary =
    "[UNK]\n[CLS]\n[SEP]\nwant\n##want\n##ed\nwa\nun\nrunn\n##ing\n,\n[PAD]\n[MASK]\n";

struct Vocabulary {
    TempFolder folder;
    explicit Vocabulary(const std::string& lines) { folder.write("vocab.txt", lines); }
    std::unique_ptr<Tokenizer> open(bool lower_case = true) const {
        return open_tokenizer(
            {.type = TokenizerType::wordpiece, .file = "vocab.txt", .lower_case = lower_case},
            folder);
    }
};

/// Every character of `text` as a beginning and as a continuation, and its frequent pieces.
std::string vocabulary_of(const std::string& text) {
    std::set<std::string> pieces;
    for (const bool lower : {true, false}) {
        for (const std::string& word : basic_words(text, lower)) {
            std::string piece;
            each_code_point(word, [&](UChar32 point) {
                std::string one;
                append_utf8(one, point);
                piece += one;
                if (pieces.size() % 7 != 0 || point < 128) pieces.insert(one);
                if (piece.size() < 6 && pieces.size() % 3 == 0) pieces.insert(piece);
            });
        }
    }
    std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (const std::string& piece : pieces)
        lines += piece + "\n" + (piece.size() % 2 == 0 ? "##" + piece + "\n" : "");
    return lines;
}

void expect_reference(const std::string& text, bool lower_case) {
    Reference reference;
    reference.folder.write("text", text);
    reference.folder.write("vocab.txt", vocabulary_of(text));
    reference.ask("wordpiece", {"vocab.txt", "text", lower_case ? "lower" : "as_is"});
    std::vector<std::int32_t> expected;
    for (const auto& line : reference.lines)
        expected.insert(expected.end(), line.begin(), line.end());
    const auto tokenizer = open_tokenizer(
        {.type = TokenizerType::wordpiece, .file = "vocab.txt", .lower_case = lower_case},
        reference.folder);
    EXPECT_GT(expected.size(), 1000U);
    EXPECT_GT(std::count(expected.begin(), expected.end(), 1), 10);    // [UNK] is tried too
    const std::vector<std::int32_t> tokens = tokens_of(*tokenizer, text);
    EXPECT_EQ(tokens, expected);
    EXPECT_EQ(tokens_of(*tokenizer, tokenizer->decode(tokens)), tokens);
}

}    // namespace

TEST(Wordpiece, berts_own_examples) {
    const auto tokenizer = Vocabulary(small_vocabulary).open();
    EXPECT_EQ(tokens_of(*tokenizer,
                        "UNwant\xC3\xA9"
                        "d,running"),
              (std::vector<std::int32_t>{7, 4, 5, 10, 8, 9}));
    EXPECT_EQ(tokens_of(*tokenizer, "unwanted running"),
              (std::vector<std::int32_t>{7, 4, 5, 8, 9}));
    EXPECT_EQ(tokens_of(*tokenizer, "unwantedX running"), (std::vector<std::int32_t>{0, 8, 9}));
    EXPECT_EQ(tokenizer->decode(std::vector<std::int32_t>{7, 4, 5, 10, 8, 9}),
              "unwanted , running");
    EXPECT_EQ(tokenizer->vocabulary_size(), 13);
    EXPECT_EQ(tokenizer->file().bytes, small_vocabulary);
    using Words = std::vector<std::string>;
    EXPECT_EQ(basic_words(" \tHeLLo!how  \n Are yoU?  ", true),
              (Words{"hello", "!", "how", "are", "you", "?"}));
    EXPECT_EQ(basic_words(" \tHeLLo!how  \n Are yoU?  ", false),
              (Words{"HeLLo", "!", "how", "Are", "yoU", "?"}));
    EXPECT_EQ(basic_words("H\xC3\xA9llo", true), Words{"hello"});
    EXPECT_EQ(basic_words("ah\xE5\x8D\x9A\xE6\x8E\xA8zz", true),
              (Words{"ah", "\xE5\x8D\x9A", "\xE6\x8E\xA8", "zz"}));
}

TEST(Wordpiece, knows_its_special_tokens_and_finds_them_in_text) {
    const auto tokenizer = Vocabulary(small_vocabulary).open();
    const SpecialTokens& special = tokenizer->special();
    EXPECT_EQ(special.unknown, 0);
    EXPECT_EQ(special.first, 1);
    EXPECT_EQ(special.last, 2);
    EXPECT_EQ(special.padding, 11);
    EXPECT_EQ(special.mask, 12);
    EXPECT_EQ(special.all, (std::vector<std::int32_t>{0, 1, 2, 11, 12}));
    EXPECT_EQ(tokens_of(*tokenizer, "want[MASK]ing [SEP]"),
              (std::vector<std::int32_t>{3, 12, 0, 2}));
}

TEST(Wordpiece, a_byte_order_mark_is_not_part_of_the_first_token) {
    const auto plain = Vocabulary("the\n[PAD]\n[UNK]\n").open();
    const auto marked = Vocabulary("\xEF\xBB\xBFthe\n[PAD]\n[UNK]\n").open();
    EXPECT_EQ(tokens_of(*marked, "the"), tokens_of(*plain, "the"));
    EXPECT_EQ(tokens_of(*marked, "the"), std::vector<std::int32_t>{0});
}

TEST(Wordpiece, a_word_of_more_than_100_characters_is_unknown) {
    const auto tokenizer = Vocabulary("[UNK]\na\n##a\n\xC3\xA9\n##\xC3\xA9\n").open(false);
    EXPECT_EQ(tokens_of(*tokenizer, std::string(100, 'a')).size(), 100U);
    EXPECT_EQ(tokens_of(*tokenizer, std::string(101, 'a')), std::vector<std::int32_t>{0});
    std::string accented;
    for (int i = 0; i < 100; ++i)
        accented += "\xC3\xA9";
    EXPECT_EQ(tokens_of(*tokenizer, accented).size(), 100U);
}

TEST(Wordpiece, of_many_scripts_as_the_reference_has_it) {
    for (const bool lower_case : {true, false})
        expect_reference(many_scripts() + random_text(3000, 2), lower_case);
}

TEST(Wordpiece, of_wikitext_as_the_reference_has_it) {
    const std::string text = wikitext(60'000);
    if (text.empty()) GTEST_SKIP() << "needs the test data";
    expect_reference(text, true);
}

TEST(Wordpiece, a_bad_vocabulary_is_named_with_its_row) {
    struct Case {
        std::string lines;
        std::int64_t row;
        std::string words;
    };
    for (const Case& bad :
         {Case{"[UNK]\na\n\nb\n", 3, "empty"}, Case{"[UNK]\na\nb\na\n", 4, "row 2"},
          Case{"[UNK]\na\xFF\n", 2, "UTF-8"}, Case{"a\nb\n", 0, "[UNK]"}, Case{"", 0, "[UNK]"}}) {
        const DataProblem problem = data_problem_of([&] { Vocabulary(bad.lines).open(); });
        EXPECT_EQ(problem.file, "vocab.txt");
        EXPECT_EQ(problem.row, bad.row) << bad.words;
        EXPECT_TRUE(says(problem, bad.words)) << problem.message;
    }
    const TempFolder folder;
    EXPECT_EQ(data_problem_of([&] {
                  open_tokenizer({.type = TokenizerType::wordpiece, .file = "../vocab.txt"},
                                 folder);
              }).file,
              "../vocab.txt");
    EXPECT_EQ(error_code_of([&] { open_tokenizer({.type = TokenizerType::wordpiece}, folder); }),
              ErrorCode::invalid_argument);
}

}    // namespace slipway
