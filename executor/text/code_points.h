#pragma once

#include <unicode/utf8.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace slipway {

/// The code point that begins at `place` of well-formed UTF-8; `place` moves behind it.
inline UChar32 next_code_point(std::string_view text, std::size_t& place) {
    UChar32 point = 0;
    U8_NEXT_UNSAFE(text.data(), place, point);
    return point;
}

/// Calls `take` with every code point of well-formed UTF-8.
template <class Take>
void each_code_point(std::string_view text, Take take) {
    for (std::size_t place = 0; place < text.size();)
        take(next_code_point(text, place));
}

/// Appends a code point as UTF-8.
inline void append_utf8(std::string& text, UChar32 point) {
    std::array<char, 4> bytes{};
    std::size_t length = 0;
    U8_APPEND_UNSAFE(bytes.data(), length, point);
    text.append(bytes.data(), length);
}

}    // namespace slipway
