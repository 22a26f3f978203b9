#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "executor/text/bpe_model.h"

namespace slipway {

/// Learns merges from texts (Sennrich et al., 2016), within GPT-2's words: again and again the pair
/// of neighbours that is seen most often becomes a token; of equal ones that of the smaller
/// numbers. Tokens: the 256 bytes in GPT-2's order, merges, <|endoftext|>, [PAD], [MASK]: together
/// `vocabulary_size`, or fewer when no pair is left that is seen twice.
/// errors  invalid_argument when vocabulary_size has no room for bytes and special tokens
BpeDefinition train_bpe(std::span<const std::string_view> texts, std::int64_t vocabulary_size);

/// GPT-2's order of bytes: printing Latin-1 characters first.
std::array<unsigned char, 256> bytes_in_order();

}    // namespace slipway
