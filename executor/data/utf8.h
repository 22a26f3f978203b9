#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace slipway {

/// Where the first byte is that no well-formed UTF-8 begins or goes on with; none when all is well.
/// Surrogates, overlong forms and a character cut off at the end are not well-formed.
std::optional<std::size_t> first_bad_utf8(std::string_view text);

/// True for UTF-8 without surrogates and overlong forms.
bool is_utf8(std::string_view text);

/// `text` without the byte order mark that some editors begin a file with. Tables, texts,
/// vocabularies and lists of class names are read without it.
std::string_view without_byte_order_mark(std::string_view text);

/// Whether a file begins with a byte order mark of UTF-16.
bool is_utf16(std::string_view text);

}    // namespace slipway
