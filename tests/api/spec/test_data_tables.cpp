// Goal: what concerns text alone is read as written, beside the tasks that need it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/spec/tables.h"

namespace slipway {

namespace {

/// Read and written again, with every default filled in.
Json normalised(const char* text) {
    const Json given = Json::parse(text);
    EXPECT_TRUE(tokenizer_table().check(given).empty()) << text;
    TokenizerSpec spec;
    std::vector<Problem> problems;
    tokenizer_table().read(given, spec, Reader(problems, tokenizer_table()));
    return tokenizer_table().write(spec);
}

}    // namespace

TEST(TokenizerSpec, keeps_the_fields_of_its_type) {
    EXPECT_EQ(normalised(R"({"type": "byte"})"), Json::parse(R"({"type": "byte"})"));
    EXPECT_EQ(normalised(R"({"type": "character"})"), Json::parse(R"({"type": "character"})"));
    EXPECT_EQ(normalised(R"({"type": "wordpiece", "file": "vocab.txt"})"),
              Json::parse(R"({"type": "wordpiece", "file": "vocab.txt", "lower_case": true})"));
    EXPECT_EQ(normalised(R"({"type": "bpe", "vocab_size": 260})"),
              Json::parse(R"({"type": "bpe", "vocab_size": 260})"));
    EXPECT_EQ(normalised(R"({"type": "unigram", "file": "a/sp.model"})"),
              Json::parse(R"({"type": "unigram", "file": "a/sp.model"})"));
}

}    // namespace slipway
