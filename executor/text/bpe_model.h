#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "executor/text/special_names.h"
#include "executor/text/written_tokens.h"

namespace slipway {

/// The tokens `left` and `right` side by side become `result`.
struct BpeMerge {
    std::int32_t left, right, result;
};

/// What a byte-level BPE tokenizer is made of.
struct BpeDefinition {
    std::vector<std::string> tokens;            ///< bytes of each; added ones: as written
    std::array<std::int32_t, 256> bytes;        ///< the token of each byte
    std::vector<BpeMerge> merges;               ///< the first are done first
    std::vector<WrittenToken> added;            ///< are found in text as written, before all else
    std::vector<NamedToken> special;            ///< those of them that stand for no text
    std::optional<std::int32_t> first, last;    ///< around a sequence, where the file says so
    bool blank_in_front = false;                ///< a text that begins with a word gets one
};

/// Where words are merged: memory that one call after another uses. One thread's.
struct BpeWorkspace {
    struct Symbol {
        std::int32_t token;    ///< -1: merged into the one before
        std::int32_t before, after;
    };
    struct Candidate {
        std::int32_t rank, place, left, right;
    };
    std::vector<Symbol> symbols = {};
    std::vector<Candidate> queue = {};    ///< a heap: the first merge on top
};

/// Merges bytes into tokens: of all neighbours those whose merge comes first, from the left, until
/// none are left. Constant after construction: safe from every thread.
class BpeModel {
public:
    explicit BpeModel(const BpeDefinition& definition);

    /// Appends the tokens of one word. n bytes take O(n log n), however long.
    void encode_word(std::string_view word, BpeWorkspace& workspace,
                     std::vector<std::int32_t>& tokens) const;

private:
    struct Rule {
        std::int32_t rank, result;
    };
    const Rule* find(std::int32_t left, std::int32_t right) const;

    std::array<std::int32_t, 256> bytes_;
    std::unordered_map<std::uint64_t, Rule> rules_;    // by both tokens
};

/// Both tokens as one number.
inline std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
    return std::uint64_t(std::uint32_t(left)) << 32 | std::uint32_t(right);
}

}    // namespace slipway
