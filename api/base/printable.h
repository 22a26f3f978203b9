#pragma once

#include <string>
#include <string_view>

namespace slipway {

/// Text of other people as a terminal may have it: control characters (C0, DEL and C1) and marks
/// that turn the direction of writing are shown as \u001b, bytes that are no UTF-8 as U+FFFD.
/// Inside a string of JSON the result still means the same.
///
/// A field of a line: line breaks and tabs are shown too.
std::string printable_line(std::string_view text);
/// Whether printable_line() leaves it as it is.
bool is_printable_line(std::string_view text);
/// Several lines: line breaks and tabs stay.
std::string printable_text(std::string_view text);

}    // namespace slipway
