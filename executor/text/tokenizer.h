#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/data/files.h"

namespace slipway {

/// The kinds of tokenizers, spelled as on the wire.
enum class TokenizerType { byte, character, wordpiece, bpe, unigram };

/// Which tokenizer a data set is read with: the fields of a job spec's `data.tokenizer`.
struct TokenizerOptions {
    TokenizerType type = TokenizerType::byte;
    /// Of the data set's folder. wordpiece: vocab.txt; bpe: tokenizer.json, or vocab.json with
    /// merges.txt beside it; unigram: a sentencepiece model. byte and character have none.
    std::string file = {};
    std::int64_t vocabulary_size = 0;    ///< bpe: train one of so many tokens; 0: read `file`
    bool lower_case = true;              ///< wordpiece: lower case, without accents
};

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

    /// Appends the tokens of `text`, which is UTF-8; only byte takes any bytes. Special tokens
    /// written out in the text ("[MASK]", "<|endoftext|>") are those tokens, but for byte and
    /// character. Nothing is put around the text.
    virtual void encode(std::string_view text, std::vector<std::int32_t>& tokens) const = 0;
    /// The text of tokens. byte, character and bpe: exactly what was encoded. wordpiece and
    /// unigram: a text that gives the same tokens again, spaces (and case) aside.
    /// errors  invalid_argument for a number that is no token
    virtual std::string decode(std::span<const std::int32_t> tokens) const = 0;

    /// What it can be read from again with make_tokenizer, with `file_options`.
    virtual TokenizerFile file() const = 0;

protected:
    Tokenizer() = default;
    SpecialTokens special_;
};

/// Reads the tokenizer's file from `folder`, or makes one from `training_text`.
///   byte       0 … 255 are the bytes, then [PAD] and [MASK]
///   character  [PAD], [UNK], [MASK], then the characters of the training text by code point; or of
///              characters.json
///   wordpiece  BERT's: basic tokenizer and longest match first
///   bpe        GPT-2's: byte level; trained ones have the 256 bytes, merges, then <|endoftext|>,
///              [PAD] and [MASK]. The same text and size give the same tokens on every machine;
///              a text with too few repeated pairs gives fewer
///   unigram    sentencepiece's, line by line
/// errors  DataError naming file and line or byte; invalid_argument when options do not fit
std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options, const Folder& folder,
                                          std::string_view training_text);

}    // namespace slipway
