#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"

namespace slipway {

/// Without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);

/// True for a non-empty token of RFC 9110, 5.6.2: a method or a header name.
bool is_token(std::string_view text);

/// True for a header's value: printable ASCII, space, tab, and bytes above 127.
bool is_field_value(std::string_view text);

/// True when the bytes are UTF-8 without overlong forms and surrogates.
bool is_valid_utf8(std::string_view bytes);

/// The parts of a comma-separated list, trimmed, empty ones left out.
std::vector<std::string_view> list_items(std::string_view text);

/// Replaces %xx by its byte; none for a bad escape.
std::optional<std::string> percent_decoded(std::string_view text);

/// One whole non-negative decimal number that fits in 19 digits; none otherwise.
std::optional<std::uint64_t> parse_decimal(std::string_view text);

/// "Fri, 20 Nov 2026 20:37:00 GMT".
std::string http_date(Instant instant);

}    // namespace slipway
