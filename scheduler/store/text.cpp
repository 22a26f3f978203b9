#include "scheduler/store/text.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "api/base/sha256.h"

namespace slipway::store {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";    // U+FFFD

/// Length of the valid UTF-8 character at the start of `text`; 0 when there is none (RFC 3629: no
/// overlong forms, no surrogates, at most U+10FFFF).
std::size_t character_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? unsigned(static_cast<unsigned char>(text[i])) : 0U;
    };
    const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
        return byte(i) >= low && byte(i) <= high;
    };
    const unsigned first = byte(0);
    if (first > 0 && first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        const unsigned low = first == 0xe0 ? 0xa0 : 0x80;
        const unsigned high = first == 0xed ? 0x9f : 0xbf;
        return follows(1, low, high) && follows(2) ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        const unsigned low = first == 0xf0 ? 0x90 : 0x80;
        const unsigned high = first == 0xf4 ? 0x8f : 0xbf;
        return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

/// NUL characters in strings and keys of `value` become U+FFFD: jsonb cannot hold them.
Json without_nul(const Json& value) {
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        return repaired_text(text, text.size() * replacement.size());
    }
    if (value.is_array()) {
        Json items = Json::array();
        for (const Json& item : value)
            items.push_back(without_nul(item));
        return items;
    }
    if (!value.is_object()) return value;
    Json members = Json::object();
    for (const auto& [key, member] : value.items())
        members[repaired_text(key, key.size() * replacement.size())] = without_nul(member);
    return members;
}

/// The part of a scope's hash that a cursor carries.
std::string scope_mark(std::string_view scope) {
    return sha256_hex(scope).substr(0, 12);
}

std::string to_hex(std::string_view text) {
    std::string hex;
    for (const char c : text)
        hex += fmt::format("{:02x}", unsigned(static_cast<unsigned char>(c)));
    return hex;
}

std::optional<std::string> from_hex(std::string_view hex) {
    constexpr std::string_view digits = "0123456789abcdef";
    if (hex.size() % 2 != 0) return std::nullopt;
    std::string text;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        const std::size_t high = digits.find(hex[i]);
        const std::size_t low = digits.find(hex[i + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        text += char(high * 16 + low);
    }
    return text;
}

}    // namespace

std::string labels_to_json(const std::map<std::string, std::string>& labels) {
    // Broken UTF-8 is replaced rather than thrown about: the caller has checked the labels.
    return Json(labels).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::map<std::string, std::string> labels_from_json(std::string_view text) {
    std::map<std::string, std::string> labels;
    const Json parsed = Json::parse(text);
    for (const auto& [key, value] : parsed.items())
        labels.emplace(key, value.is_string() ? value.get<std::string>() : value.dump());
    return labels;
}

std::string contains_pattern(std::string_view part) {
    std::string pattern = "%";
    for (const char c : part) {
        if (c == '%' || c == '_' || c == '\\') pattern += '\\';
        pattern += c;
    }
    return pattern + '%';
}

std::string repaired_text(std::string_view text, std::size_t bytes_max) {
    std::string repaired;
    while (!text.empty()) {
        const std::size_t bytes = character_bytes(text);
        const std::string_view character = bytes > 0 ? text.substr(0, bytes) : replacement;
        if (repaired.size() + character.size() > bytes_max) break;
        repaired += character;
        text.remove_prefix(bytes > 0 ? bytes : 1);
    }
    return repaired;
}

JsonText repaired_json(const JsonText& text) {
    const Json parsed = Json::parse(text, nullptr, false);
    if (parsed.is_discarded()) {
        constexpr std::size_t shown_bytes = 2000;
        return Json{{"unreadable", repaired_text(text, shown_bytes)}}.dump();
    }
    return text.find("\\u0000") == std::string::npos ? text : without_nul(parsed).dump();
}

std::optional<Reason> reason_of(const Row& row) {
    if (row.is_null("reason_code")) return std::nullopt;
    return Reason{row.text("reason_code"), row.text("reason_message")};
}

Param reason_code(const std::optional<Reason>& reason) {
    return reason ? Param(reason->code) : Param(std::nullopt);
}

Param reason_message(const std::optional<Reason>& reason) {
    return reason ? Param(reason->message) : Param(std::nullopt);
}

std::string write_cursor(std::string_view scope, const CursorPlace& place) {
    return to_hex(scope_mark(scope) + place.id + '\n' + place.sort_key);
}

std::optional<CursorPlace> read_cursor(std::string_view scope, std::string_view cursor) {
    if (cursor.empty()) return std::nullopt;
    const std::string mark = scope_mark(scope);
    const std::optional<std::string> text = from_hex(cursor);
    const std::size_t split = text ? text->find('\n') : std::string::npos;
    // The mark is no secret: what follows it may be anything, also what no database takes.
    if (split == std::string::npos || !text->starts_with(mark) ||
        repaired_text(*text, text->size()) != *text) {
        throw Error{ErrorCode::invalid_argument,
                    "cursor does not belong to this list with this order and these filters; leave "
                    "it out to start from the beginning"};
    }
    return CursorPlace{text->substr(mark.size(), split - mark.size()), text->substr(split + 1)};
}

Param place_of(std::string_view scope, const PageRequest& page) {
    const std::optional<CursorPlace> place = read_cursor(scope, page.cursor);
    return place ? Param(place->id) : Param(std::nullopt);
}

CursorPlace place_of_id(const Row& row) {
    return {row.text("id"), {}};
}

int rows_to_ask(const PageRequest& page) {
    constexpr int limit_max = 200;
    if (page.limit < 1 || page.limit > limit_max) {
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("limit must be 1 to {}, got {}", limit_max, page.limit)};
    }
    return page.limit + 1;
}

}    // namespace slipway::store
