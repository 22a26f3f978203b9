#pragma once

#include <cstdint>
#include <vector>

#include "executor/text/token_sequences.h"

/// Rows of tokens in memory: 0 pads, 1 begins and 2 ends a row, 3 masks, the others are text.
namespace slipway {

inline constexpr std::int32_t padding_token = 0, first_token = 1, last_token = 2, mask_token = 3;

/// A row of each of these counts of tokens, [CLS] and [SEP] among them, filled up to `length`.
inline TokenSequences framed_rows(std::int64_t length, const std::vector<std::int32_t>& counts,
                                  std::int64_t vocabulary_size = 100) {
    TokenSequences rows{.length = length,
                        .vocabulary_size = vocabulary_size,
                        .token_counts = counts,
                        .padding = padding_token,
                        .mask = mask_token,
                        .special = {padding_token, first_token, last_token, mask_token}};
    const auto words = vocabulary_size - 4;
    std::vector<std::int32_t> tokens;
    std::int64_t next = 0;
    for (const std::int32_t count : counts) {
        for (std::int32_t i = 0; i < length; ++i) {
            const bool is_text = i > 0 && i + 1 < count;
            const std::int32_t frame = i == 0 ? first_token : last_token;
            const auto word = std::int32_t(4 + next++ % words);
            tokens.push_back(i >= count ? padding_token : is_text ? word : frame);
        }
    }
    rows.tokens = std::move(tokens);
    return rows;
}

}    // namespace slipway
