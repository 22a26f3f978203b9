#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "executor/data/files.h"
#include "executor/text/tokenizer.h"

namespace slipway {

/// One maker for each type: see make_tokenizer.
using TrainingTexts = std::span<const std::string_view>;
std::unique_ptr<Tokenizer> make_byte_tokenizer(const TokenizerOptions&, const Folder&,
                                               TrainingTexts);
std::unique_ptr<Tokenizer> make_character_tokenizer(const TokenizerOptions&, const Folder&,
                                                    TrainingTexts);
std::unique_ptr<Tokenizer> make_wordpiece_tokenizer(const TokenizerOptions&, const Folder&,
                                                    TrainingTexts);
std::unique_ptr<Tokenizer> make_bpe_tokenizer(const TokenizerOptions&, const Folder&,
                                              TrainingTexts);
std::unique_ptr<Tokenizer> make_unigram_tokenizer(const TokenizerOptions&, const Folder&,
                                                  TrainingTexts);

/// A tokenizer's file whole.
/// errors  DataError when missing or larger than 256 MiB
std::string read_tokenizer_file(const Folder& folder, const std::string& name);

/// The file as JSON.
/// errors  DataError naming line and column, or the key that is given twice
nlohmann::json read_tokenizer_json(const Folder& folder, const std::string& name);

/// A job spec's data.tokenizer as JSON, and back.
/// errors  DataError for what is no such JSON
std::string write_tokenizer_spec(const TokenizerSpec& spec);
TokenizerSpec read_tokenizer_spec(const Folder& folder, const std::string& name);

/// Throws invalid_argument when `token` is no token of a vocabulary of this size.
void check_token(std::int32_t token, std::int64_t vocabulary_size);

}    // namespace slipway
