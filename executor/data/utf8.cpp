#include "executor/data/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace slipway {

namespace {

/// How far plain ASCII goes from `begin` on, eight bytes at a time.
std::size_t end_of_ascii(std::string_view text, std::size_t begin) {
    while (begin + 8 <= text.size()) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, text.data() + begin, 8);
        if ((bytes & 0x8080808080808080U) != 0) break;
        begin += 8;
    }
    while (begin < text.size() && static_cast<unsigned char>(text[begin]) < 0x80)
        ++begin;
    return begin;
}

}    // namespace

// The table of well-formed byte sequences of the Unicode standard, section 3.9, by the first byte.
std::optional<std::size_t> first_bad_utf8(std::string_view text) {
    struct Row {
        unsigned char first_max, following, second_min, second_max;
    };
    static constexpr Row rows[] = {
        {0xC1, 255, 0, 0},     {0xDF, 1, 0x80, 0xBF}, {0xE0, 2, 0xA0, 0xBF},
        {0xEC, 2, 0x80, 0xBF}, {0xED, 2, 0x80, 0x9F}, {0xEF, 2, 0x80, 0xBF},
        {0xF0, 3, 0x90, 0xBF}, {0xF3, 3, 0x80, 0xBF}, {0xF4, 3, 0x80, 0x8F}};
    const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t i = end_of_ascii(text, 0); i < text.size(); i = end_of_ascii(text, i)) {
        const Row* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& candidate) {
            return at(i) <= candidate.first_max;
        });
        if (row == std::end(rows) || row->following >= text.size() - i) return i;
        if (at(i + 1) < row->second_min || at(i + 1) > row->second_max) return i;
        for (std::size_t j = 2; j <= row->following; ++j)
            if (at(i + j) < 0x80 || at(i + j) > 0xBF) return i;
        i += row->following + std::size_t{1};
    }
    return std::nullopt;
}

bool is_utf8(std::string_view text) {
    return !first_bad_utf8(text);
}

std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

bool is_utf16(std::string_view text) {
    return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

}    // namespace slipway
