#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/spec/job_spec.h"
#include "executor/data/files.h"

namespace slipway {

/// Which tokenizer a dataset is read with: the fields of a job spec's `data.tokenizer`.
struct TokenizerOptions {
    TokenizerType type = TokenizerType::byte;
    /// Of the dataset's folder. wordpiece: vocab.txt; bpe: tokenizer.json, or vocab.json with
    /// merges.txt beside it; unigram: a sentencepiece model. byte and character have none.
    std::string file = {};
    std::int64_t vocabulary_size = 0;    ///< bpe: train one of so many tokens; 0: read `file`
    bool lower_case = true;              ///< wordpiece: lower case, without accents
};

/// As a job asks for it.
TokenizerOptions tokenizer_options(const TokenizerSpec& spec);

/// Tokens that stand for no text. Not every tokenizer has each of them.
struct SpecialTokens {
    std::optional<std::int32_t> padding = {};        ///< [PAD], <pad>
    std::optional<std::int32_t> unknown = {};        ///< [UNK], <unk>: text without a token
    std::optional<std::int32_t> mask = {};           ///< [MASK], <mask>
    std::optional<std::int32_t> first = {};          ///< [CLS]: before each sequence
    std::optional<std::int32_t> last = {};           ///< [SEP]: after each sequence
    std::optional<std::int32_t> end_of_text = {};    ///< <|endoftext|>
    std::vector<std::int32_t> all = {};    ///< every token that stands for no text, ascending
};

/// A file that a tokenizer can be read from again.
struct TokenizerFile {
    std::string name;    ///< vocab.txt, tokenizer.json, …
    std::string bytes;
};

/// Text to numbers and back. Constant after construction: safe from every thread.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;
    Tokenizer(const Tokenizer&) = delete;
    Tokenizer& operator=(const Tokenizer&) = delete;

    /// Tokens are numbered from 0 to this, excluded.
    virtual std::int64_t vocabulary_size() const = 0;
    const SpecialTokens& special() const { return special_; }

    /// Appends the tokens of `text`, which is UTF-8; only byte takes any bytes. For wordpiece and
    /// bpe special tokens written out in the text ("[MASK]", "<|endoftext|>") are those tokens.
    /// Nothing is put around the text.
    virtual void encode(std::string_view text, std::vector<std::int32_t>& tokens) const = 0;
    /// The text of tokens. byte, character and bpe: exactly what was encoded, but for unknown
    /// characters. wordpiece and unigram: a text that gives the same tokens again. Special tokens
    /// are written out; unigram leaves them out.
    /// errors  invalid_argument for a number that is no token
    virtual std::string decode(std::span<const std::int32_t> tokens) const = 0;

    /// What it can be read from again by make_tokenizer; without a name when its type is enough.
    virtual TokenizerFile file() const = 0;

protected:
    Tokenizer() = default;
    SpecialTokens special_;
};

/// Reads the tokenizer's file from `folder`, or makes one from `training_texts`.
///   byte       0 to 255 are the bytes, then [PAD] and [MASK]
///   character  [PAD], [UNK], [MASK], then the characters of the training texts by code point; or
///              those of `file`, a JSON list of characters (characters.json)
///   wordpiece  BERT's: its basic tokenizer, then the longest match first
///   bpe        GPT-2's, of bytes. A trained one has the 256 bytes, then merges, then
///              <|endoftext|>, [PAD] and [MASK]; the same texts and size give the same tokens on
///              every machine; texts with too few pairs seen twice give fewer
///   unigram    a sentencepiece model, line by line: ends of lines have no token
/// errors  DataError naming file and line or byte; invalid_argument when options do not fit
std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options, const Folder& folder,
                                          std::span<const std::string_view> training_texts);

}    // namespace slipway
