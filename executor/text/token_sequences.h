#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/data/dataset.h"
#include "executor/data/numbers.h"
#include "executor/text/tokenizer.h"

namespace slipway {

/// A text dataset as rows of tokens, ready for a language model. Constant after opening: safe
/// from every thread. N = count(), T = length.
struct TokenSequences {
    std::int64_t length = 0;                        ///< T: tokens of a row
    std::int64_t vocabulary_size = 0;               ///< every token is below it
    Numbers<std::int32_t> tokens = {};              ///< [N, T]; padding (or 0) after the real ones
    std::vector<std::int32_t> token_counts = {};    ///< [N]: real tokens in front, 1 to T
    std::vector<std::string> part_names = {};    ///< files without ending, sorted; empty: one file
    std::vector<std::int32_t> parts = {};        ///< [N]: index of part_names; empty: one file
    std::optional<std::int32_t> padding = {};
    std::optional<std::int32_t> mask = {};
    std::optional<std::int32_t> unknown = {};
    std::vector<std::int32_t> special = {};    ///< tokens that stand for no text, ascending

    std::int64_t count() const { return std::int64_t(token_counts.size()); }
    std::span<const std::int32_t> row(std::int64_t sequence) const {
        return tokens.span().subspan(std::size_t(sequence * length), std::size_t(length));
    }
};

/// How text is cut into rows.
struct CutOptions {
    std::int64_t length = 128;    ///< T, at least 2; 3 where [CLS] and [SEP] go around
    /// Tokens that a row repeats from the end of the row before (of the same part). 1 lets rows of
    /// T = n + 1 tokens predict every token of a part but its first exactly once.
    std::int64_t overlap = 0;
    /// Put special().first and special().last around every row, where the tokenizer has both.
    bool framed = true;
};

/// The tokens of one part after another, cut into rows. Every token is in a row: the last row of a
/// part is as short as what is left, and padded. Rows never cross parts.
struct TokenizedText {
    std::unique_ptr<Tokenizer> tokenizer;    ///< null where the rows came from a shared copy
    TokenSequences sequences;
};

/// Opens a dataset of the format `text`: makes the tokenizer, encodes and cuts.
/// `training_part` is what a tokenizer that learns (character, bpe with vocabulary_size) sees;
/// empty: all of the text, as with a split that is drawn from rows. `made` is used instead of a
/// tokenizer made from the options.
/// errors  DataError for what is in the files (invalid UTF-8 with file and byte, a bad tokenizer
///         file, no text at all); invalid_argument for options that do not fit, naming the parts
///         there are; not_found without folder; exhausted over a memory limit
TokenizedText open_token_sequences(const std::filesystem::path& path,
                                   const TokenizerOptions& tokenizer, const CutOptions& cut,
                                   const std::string& training_part = {},
                                   std::unique_ptr<Tokenizer> made = nullptr);

/// What split_samples and split_by_parts need: a sample per row, one class, the parts.
DatasetIndex index_of(const TokenSequences& sequences);

}    // namespace slipway
