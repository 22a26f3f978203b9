#include "executor/text/sequence_records.h"

#include <algorithm>
#include <array>

namespace slipway {

namespace {

using SpecialToken = std::optional<std::int32_t> TokenSequences::*;
constexpr auto special_tokens = std::to_array<SpecialToken>(
    {&TokenSequences::padding, &TokenSequences::mask, &TokenSequences::unknown});

bool fit_together(const TokenSequences& rows) {
    const auto is_token = [&rows](std::int32_t token) {
        return token >= 0 && token < rows.vocabulary_size;
    };
    if (rows.length < 1 ||
        rows.tokens.size() / std::size_t(rows.length) != std::size_t(rows.count()) ||
        rows.tokens.size() % std::size_t(rows.length) != 0)
        return false;
    const auto counts = std::ranges::all_of(rows.token_counts, [&rows](std::int32_t count) {
        return count >= 1 && count <= rows.length;
    });
    const auto parts = std::ranges::all_of(rows.parts, [&rows](std::int32_t part) {
        return part >= 0 && std::size_t(part) < rows.part_names.size();
    });
    return counts && parts &&
           (rows.parts.empty() || rows.parts.size() == rows.token_counts.size()) &&
           std::ranges::all_of(rows.tokens.span(), is_token) &&
           std::ranges::all_of(rows.special, is_token);
}

}    // namespace

void write_sequences(CopyWriter& to, const TokenSequences& sequences) {
    to.number(sequences.length);
    to.number(sequences.vocabulary_size);
    to.numbers(sequences.tokens.span());
    to.numbers(sequences.token_counts);
    to.texts(sequences.part_names);
    to.numbers(sequences.parts);
    for (const SpecialToken token : special_tokens)
        to.number((sequences.*token).value_or(-1));
    to.numbers(sequences.special);
}

TokenSequences read_sequences(CopyReader& from) {
    TokenSequences sequences;
    sequences.length = from.number();
    sequences.vocabulary_size = from.number();
    sequences.tokens = from.numbers<std::int32_t>();
    sequences.token_counts = from.vector<std::int32_t>();
    sequences.part_names = from.texts();
    sequences.parts = from.vector<std::int32_t>();
    for (const SpecialToken token : special_tokens) {
        const std::int64_t number = from.number();
        if (number >= 0) sequences.*token = std::int32_t(number);
    }
    sequences.special = from.vector<std::int32_t>();
    require_in_copy(fit_together(sequences));
    return sequences;
}

}    // namespace slipway
