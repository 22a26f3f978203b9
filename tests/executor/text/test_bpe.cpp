// Goal: byte-level BPE gives the tokens of its definition; a file that cannot be read so is named.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "executor/text/bpe_files.h"
#include "tests/executor/data/make_files.h"
#include "tests/executor/text/text_files.h"

namespace slipway {

namespace {

using Json = nlohmann::json;

std::unique_ptr<Tokenizer> trained(const std::string& text, std::int64_t size) {
    return open_tokenizer({.type = TokenizerType::bpe, .vocabulary_size = size}, TempFolder(),
                          text);
}

std::unique_ptr<Tokenizer> read(const TempFolder& folder, const std::string& file) {
    return open_tokenizer({.type = TokenizerType::bpe, .file = file}, folder);
}

/// A tokenizer.json, small and whole, to be changed.
Json small_file() {
    return Json::parse(trained("low lower lowest low low lower", 280)->file().bytes);
}

DataProblem problem_of(const Json& file) {
    TempFolder folder;
    folder.write("tokenizer.json", file.dump());
    DataProblem problem = data_problem_of([&] { read(folder, "tokenizer.json"); });
    EXPECT_EQ(problem.file, "tokenizer.json");
    return problem;
}

}    // namespace

TEST(Bpe, any_text_comes_back_and_a_read_tokenizer_is_the_trained_one) {
    const std::string text = many_scripts() + random_text(1000, 3) + std::string(5000, 'a');
    const auto tokenizer = trained(text + text, 500);
    const std::vector<std::int32_t> tokens = tokens_of(*tokenizer, text);
    EXPECT_LT(tokens.size(), text.size());
    EXPECT_EQ(tokenizer->decode(tokens), text);
    TempFolder folder;
    folder.write(tokenizer->file().name, tokenizer->file().bytes);
    const auto again = read(folder, "tokenizer.json");
    EXPECT_EQ(again->vocabulary_size(), tokenizer->vocabulary_size());
    EXPECT_EQ(again->special().all, tokenizer->special().all);
    EXPECT_EQ(again->file().bytes, tokenizer->file().bytes);
    EXPECT_EQ(tokens_of(*again, text), tokens);
}

TEST(Bpe, tokens_are_those_of_the_slow_reference) {
    const std::string text = many_scripts() + random_text(700, 4) + wikitext(20'000);
    const auto tokenizer = trained(text + text, 600);
    Reference reference;
    reference.folder.write("text", text);
    reference.folder.write("tokenizer.json", tokenizer->file().bytes);
    reference.ask("bpe", {"tokenizer.json", "text"});
    if (!reference.possible) GTEST_SKIP() << "needs python3-regex";
    EXPECT_EQ(tokens_of(*tokenizer, text), reference.lines.at(0));
}

TEST(Bpe, special_tokens_are_found_in_text_and_written_out) {
    const auto tokenizer = trained("one two", 260);
    const SpecialTokens& special = tokenizer->special();
    EXPECT_EQ(special.end_of_text, 256);
    EXPECT_EQ(special.padding, 257);
    EXPECT_EQ(special.mask, 258);
    const std::vector<std::int32_t> tokens = tokens_of(*tokenizer, "a<|endoftext|>[MASK]b");
    EXPECT_EQ(tokens, (std::vector<std::int32_t>{64, 256, 258, 65}));
    EXPECT_EQ(tokenizer->decode(tokens), "a<|endoftext|>[MASK]b");
}

TEST(Bpe, gpt2s_two_files_are_read) {
    Json whole = small_file();
    TempFolder folder;
    Json vocabulary = whole["model"]["vocab"];
    vocabulary.erase("[PAD]");
    vocabulary["<mask>"] = vocabulary["[MASK]"];
    vocabulary["<pad>"] = vocabulary["[MASK]"].get<int>() - 1;
    vocabulary.erase("[MASK]");
    folder.write("gpt/vocab.json", vocabulary.dump());
    std::string merges = "#version: 0.2\n";
    for (const Json& merge : whole["model"]["merges"])
        merges += merge.get<std::string>() + "\r\n";
    folder.write("gpt/merges.txt", merges);
    folder.write("tokenizer.json", whole.dump());
    const auto two = read(folder, "gpt/vocab.json"), one = read(folder, "tokenizer.json");
    const std::string text = "lower <|endoftext|> lowest\n";
    EXPECT_EQ(tokens_of(*two, text), tokens_of(*one, text));
    EXPECT_EQ(two->special().mask, one->special().mask);
    folder.write("gpt/tokenizer.json", two->file().bytes);    // both files in one
    EXPECT_EQ(tokens_of(*read(folder, "gpt/tokenizer.json"), text + "<mask>"),
              tokens_of(*two, text + "<mask>"));
    folder.write("gpt/merges.txt", merges + "\nlow est\n");
    const DataProblem problem = data_problem_of([&] { read(folder, "gpt/vocab.json"); });
    EXPECT_EQ(problem.file, "gpt/merges.txt");
    EXPECT_EQ(problem.row, std::int64_t(whole["model"]["merges"].size()) + 3);
}

TEST(Bpe, what_robertas_file_asks_for_is_done) {
    Json file = small_file();
    file["post_processor"] = {
        {"type", "RobertaProcessing"}, {"sep", {"</s>", 3}}, {"cls", {"<s>", 4}}};
    file["pre_tokenizer"]["add_prefix_space"] = true;
    file["added_tokens"][2]["lstrip"] = true;
    Json pairs = Json::array();
    for (const Json& merge : file["model"]["merges"]) {
        const std::string text = merge;
        pairs.push_back({text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1)});
    }
    file["model"]["merges"] = pairs;
    TempFolder folder;
    folder.write("tokenizer.json", file.dump());
    const auto tokenizer = read(folder, "tokenizer.json");
    EXPECT_EQ(tokenizer->special().first, 4);
    EXPECT_EQ(tokenizer->special().last, 3);
    const auto decoded = [&](const std::string& text) {
        return tokenizer->decode(tokens_of(*tokenizer, text));
    };
    EXPECT_EQ(decoded("low"), " low");
    EXPECT_EQ(decoded("'s low"), " 's low");
    EXPECT_EQ(decoded("\nlow [MASK]x"), "\nlow[MASK] x");
    EXPECT_EQ(tokens_of(*tokenizer, "'s"), tokens_of(*tokenizer, " 's"));
}

TEST(Bpe, a_file_that_asks_for_what_is_not_done_is_refused) {
    struct Case {
        std::string pointer;
        Json value;
        std::string words;
    };
    for (const Case& bad :
         {Case{"/model/type", "WordPiece", "its model is WordPiece"},
          Case{"/normalizer", Json{{"type", "NFC"}}, "its normalizer is NFC"},
          Case{"/pre_tokenizer", Json{{"type", "Sequence"}}, "pre_tokenizer is Sequence"},
          Case{"/pre_tokenizer/use_regex", false, "pre_tokenizer"},
          Case{"/model/byte_fallback", true, "byte_fallback"},
          Case{"/model/end_of_word_suffix", "</w>", "end_of_word_suffix"},
          Case{"/post_processor/type", "TemplateProcessing", "TemplateProcessing"},
          Case{"/added_tokens/0/single_word", true, "single_word"}}) {
        Json file = small_file();
        file[Json::json_pointer(bad.pointer)] = bad.value;
        EXPECT_TRUE(says(problem_of(file), bad.words)) << problem_of(file).message;
    }
}

TEST(Bpe, a_damaged_file_is_named_with_the_token_or_merge) {
    struct Case {
        std::string pointer;
        Json value;
        std::string words;
        std::int64_t row;
    };
    for (const Case& bad :
         {Case{"/model/vocab", Json::array(), "not a JSON object", 0},
          Case{"/model/vocab/low", 0, "another token", 0},
          Case{"/model/vocab/low", "x", "\"low\" is \"x\"", 0},
          Case{"/model/vocab/low", -1, "\"low\" is -1", 0},
          Case{"/model/vocab/low", 100'000'000, "from 0 to", 0},
          Case{"/model/vocab/low", 5000, "has no token", 0},
          Case{"/model/vocab/\u4E16", 263, "stands for no byte", 0},
          Case{"/model/merges/1", "a b c", "not a merge of two", 2},
          Case{"/model/merges/1", "lo est", "\"est\"", 2}, Case{"/model/merges/1", 3, "no text", 2},
          Case{"/model/merges", Json(), "no list of merges", 0},
          Case{"/added_tokens/0/id", "x", "without id", 0},
          Case{"/added_tokens/0/id", 7, "another token", 0}}) {
        Json file = small_file();
        file[Json::json_pointer(bad.pointer)] = bad.value;
        const DataProblem problem = problem_of(file);
        EXPECT_TRUE(says(problem, bad.words)) << bad.words << ": " << problem.message;
        EXPECT_EQ(problem.row, bad.row) << problem.message;
    }
    Json lacks_a_byte = small_file();
    lacks_a_byte["model"]["vocab"]["xyz"] = lacks_a_byte["model"]["vocab"]["!"];
    lacks_a_byte["model"]["vocab"].erase("!");
    EXPECT_TRUE(says(problem_of(lacks_a_byte), "byte 0x21"));
    TempFolder folder;
    folder.write("tokenizer.json", "{\"model\": ");
    EXPECT_TRUE(says(data_problem_of([&] { read(folder, "tokenizer.json"); }), "line 1"));
    EXPECT_EQ(error_code_of([&] { open_tokenizer({.type = TokenizerType::bpe}, folder); }),
              ErrorCode::invalid_argument);
}

}    // namespace slipway
