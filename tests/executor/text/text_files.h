#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/text/tokenizer.h"
#include "tests/support/temp_folder.h"

namespace slipway {

/// Lines in Latin, Greek, Cyrillic, Arabic, Hebrew, Devanagari, Thai, Chinese, Japanese, Korean and
/// emoji; with accents both ways, contractions, numbers, runs of white space of every kind, control
/// and format characters.
std::string many_scripts();

/// `count` code points of every assigned kind that Unicode 14 knows, letters of ASCII and white
/// space between them.
std::string random_text(std::int64_t count, std::uint64_t seed);

/// The first `bytes` of WikiText-2's validation part, up to the end of a line; empty without data.
std::string wikitext(std::size_t bytes);

/// What reference_tokens.py says: the numbers of every line.
struct Reference {
    TempFolder folder;
    bool possible = false;    ///< false: Python lacks a module
    std::vector<std::vector<std::int32_t>> lines;

    /// `arguments` follow the kind; files of `folder` are named without it.
    void ask(const std::string& kind, const std::vector<std::string>& arguments);
};

std::vector<std::int32_t> tokens_of(const Tokenizer& tokenizer, const std::string& text);

/// The tokenizer of `file` in `folder`.
std::unique_ptr<Tokenizer> open_tokenizer(TokenizerOptions options, const TempFolder& folder,
                                          const std::string& training_text = {});

}    // namespace slipway
