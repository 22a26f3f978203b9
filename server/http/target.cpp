#include "server/http/target.h"

#include <algorithm>
#include <optional>

#include "api/base/letter_case.h"
#include "server/http/text.h"

namespace slipway {

namespace {

bool has_control_byte(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f;
    });
}

bool is_path_character(char c) {
    constexpr std::string_view marks = "-._~!$&'()*+,;=:@/%";
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           marks.find(c) != std::string_view::npos;
}

std::optional<Refusal> add_segment(std::string_view raw, Target& target) {
    const std::optional<std::string> decoded = percent_decoded(raw);
    if (!decoded) return Refusal{400, "bad_escape", "the path has a % without two hex digits"};
    if (decoded->find_first_of("/\\") != std::string::npos)
        return Refusal{400, "escaped_separator", "the path has an escaped / or \\"};
    if (has_control_byte(*decoded))
        return Refusal{400, "control_byte", "the path has an escaped control byte"};
    if (!is_valid_utf8(*decoded))
        return Refusal{400, "bad_utf8", "the path is not UTF-8 after decoding"};
    if (*decoded == "." || *decoded == "..")
        return Refusal{400, "dot_segment", "the path has \".\" or \"..\" as a part"};
    target.path += '/';
    target.path += *decoded;
    target.segments.push_back(*decoded);
    return std::nullopt;
}

std::optional<std::string> query_decoded(std::string_view raw) {
    std::string spaced(raw);
    std::replace(spaced.begin(), spaced.end(), '+', ' ');
    return percent_decoded(spaced);
}

std::optional<Refusal> add_query_pair(std::string_view raw, Target& target) {
    const auto equals = std::min(raw.find('='), raw.size());
    const std::optional<std::string> name = query_decoded(raw.substr(0, equals));
    const std::optional<std::string> value =
        query_decoded(raw.substr(std::min(equals + 1, raw.size())));
    if (!name || !value)
        return Refusal{400, "bad_escape", "the query has a % without two hex digits"};
    if (name->find('\0') != std::string::npos || value->find('\0') != std::string::npos)
        return Refusal{400, "control_byte", "the query has an escaped NUL"};
    if (!is_valid_utf8(*name) || !is_valid_utf8(*value))
        return Refusal{400, "bad_utf8", "the query is not UTF-8 after decoding"};
    target.query_pairs.push_back({*name, *value});
    return std::nullopt;
}

/// Calls `add` for each part between separators; stops at the first refusal.
template <class Add>
std::optional<Refusal> each_part(std::string_view text, char separator, const Add& add) {
    for (;;) {
        const auto end = std::min(text.find(separator), text.size());
        if (auto refusal = add(text.substr(0, end))) return refusal;
        if (end == text.size()) return std::nullopt;
        text.remove_prefix(end + 1);
    }
}

/// Splits "http://authority" off an absolute form; none: the target is not one.
std::optional<std::string_view> take_authority(std::string_view& target) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!equal_ignoring_case(target.substr(0, scheme.size()), scheme)) continue;
        target.remove_prefix(scheme.size());
        const auto end = std::min(target.find_first_of("/?#"), target.size());
        const std::string_view authority = target.substr(0, end);
        target.remove_prefix(end);
        return authority;
    }
    return std::nullopt;
}

}    // namespace

std::variant<Target, Refusal> parse_target(std::string_view target) {
    Target result;
    const auto authority = take_authority(target);
    if (authority) {
        if (authority->empty())
            return Refusal{400, "target_form", "the target's URL names no host"};
        result.authority = *authority;
    }
    // A URL without a path means "/" (RFC 9110, 4.2.3).
    std::string rooted;
    if (authority && !target.starts_with('/')) {
        rooted = "/" + std::string(target);
        target = rooted;
    }
    if (target == "*") {
        result.path = target;
        return result;
    }
    if (!target.starts_with('/'))
        return Refusal{400, "target_form",
                       "the target must be a path that starts with /, or an http URL"};
    const auto question = std::min(target.find('?'), target.size());
    const std::string_view path = target.substr(1, question - 1);
    const std::string_view query = target.substr(std::min(question + 1, target.size()));
    if (!std::all_of(path.begin(), path.end(), is_path_character))
        return Refusal{400, "target_character", "the path has a character that must be escaped"};
    if (query.find('#') != std::string_view::npos)
        return Refusal{400, "target_character", "the target has a fragment (#)"};

    if (path.empty()) {
        result.path = "/";
    } else if (auto refusal = each_part(
                   path, '/', [&](std::string_view part) { return add_segment(part, result); })) {
        return *refusal;
    }
    if (auto refusal = each_part(query, '&', [&](std::string_view part) {
            return part.empty() ? std::nullopt : add_query_pair(part, result);
        }))
        return *refusal;
    return result;
}

}    // namespace slipway
