#include "api/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

// Names of tensors, lines of logs and names of jobs are other people's words, and a terminal obeys
// some characters instead of showing them: ESC begins commands (move, delete, set the title, answer
// into the input), C1 has one-character forms of the same, and the marks of bidirectional text let
// a line read otherwise than it is.

namespace slipway {
namespace {

struct Range {
    char32_t first;
    char32_t last;
};

constexpr std::array obeyed{Range{0x00, 0x1f},     Range{0x7f, 0x9f},     Range{0x61c, 0x61c},
                            Range{0x200e, 0x200f}, Range{0x2028, 0x202e}, Range{0x2066, 0x2069}};
constexpr char32_t no_character = 0xffffffff;

struct Read {
    char32_t character = no_character;
    std::size_t bytes = 1;
};

// The character at the beginning; no_character and one byte when there is none in UTF-8.
Read read_character(std::string_view text) {
    constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned first = byte(0);
    if (first < 0x80) return {first, 1};
    const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {};
    char32_t character = first & (0xffU >> (bytes + 1));
    for (std::size_t at = 1; at < bytes; ++at) {
        if ((byte(at) & 0xc0U) != 0x80) return {};
        character = character << 6 | (byte(at) & 0x3fU);
    }
    const bool surrogate = character >= 0xd800 && character <= 0xdfff;
    if (character < least[bytes] || character > 0x10ffff || surrogate) return {};
    return {character, bytes};
}

bool is_obeyed(char32_t character) {
    return std::ranges::any_of(
        obeyed, [&](Range range) { return range.first <= character && character <= range.last; });
}

std::string printable(std::string_view text, std::string_view kept) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const Read read = read_character(text);
        if (read.character == no_character)
            shown += "\ufffd";
        else if (is_obeyed(read.character) && kept.find(text[0]) == std::string_view::npos)
            shown += fmt::format("\\u{:04x}", static_cast<unsigned>(read.character));
        else
            shown += text.substr(0, read.bytes);
        text.remove_prefix(read.bytes);
    }
    return shown;
}

}    // namespace

std::string printable_line(std::string_view text) {
    return printable(text, "");
}

bool is_printable_line(std::string_view text) {
    while (!text.empty()) {
        const Read read = read_character(text);
        if (read.character == no_character || is_obeyed(read.character)) return false;
        text.remove_prefix(read.bytes);
    }
    return true;
}

std::string printable_text(std::string_view text) {
    return printable(text, "\n\t");
}

}    // namespace slipway
