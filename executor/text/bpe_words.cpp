#include "executor/text/bpe_words.h"

#include <unicode/uchar.h>

#include <array>

#include "executor/text/code_points.h"

namespace slipway {

namespace {

enum class Class : unsigned char { letter, number, space, other };

Class class_by_tables(UChar32 point) {
    const std::uint32_t category = U_MASK(u_charType(point));
    if ((category & U_GC_L_MASK) != 0) return Class::letter;
    if ((category & U_GC_N_MASK) != 0) return Class::number;
    return u_isUWhiteSpace(point) != 0 ? Class::space : Class::other;
}

/// The class of the code point at `place`, which moves behind it.
Class next_class(std::string_view text, std::size_t& place) {
    static const auto ascii = [] {
        std::array<Class, 128> classes{};
        for (UChar32 point = 0; point < 128; ++point)
            classes[std::size_t(point)] = class_by_tables(point);
        return classes;
    }();
    const auto byte = static_cast<unsigned char>(text[place]);
    if (byte >= 128) return class_by_tables(next_code_point(text, place));
    ++place;
    return ascii[byte];
}

/// Where code points of this class end.
std::size_t end_of_run(std::string_view text, std::size_t begin, Class wanted) {
    while (begin < text.size()) {
        std::size_t after = begin;
        if (next_class(text, after) != wanted) break;
        begin = after;
    }
    return begin;
}

/// How long the contraction is that `text` begins with; 0: none.
std::size_t contraction_length(std::string_view text) {
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
        if (text.starts_with(ending)) return ending.size();
    return 0;
}

/// White space that a word follows leaves its last character to it.
std::size_t end_of_space(std::string_view text, std::size_t begin) {
    std::size_t end = begin, last = begin;
    while (end < text.size()) {
        std::size_t after = end;
        if (next_class(text, after) != Class::space) break;
        last = end;
        end = after;
    }
    return end == text.size() || last == begin ? end : last;
}

}    // namespace

std::size_t end_of_bpe_word(std::string_view text, std::size_t begin) {
    if (text[begin] == '\'') {
        const std::size_t length = contraction_length(text.substr(begin, 3));
        if (length > 0) return begin + length;
    }
    std::size_t place = begin;
    Class kind = next_class(text, place);
    if (text[begin] == ' ' && place < text.size()) {
        std::size_t after = place;
        const Class following = next_class(text, after);
        if (following != Class::space) kind = following;
    }
    return kind == Class::space ? end_of_space(text, begin) : end_of_run(text, place, kind);
}

}    // namespace slipway
