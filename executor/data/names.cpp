#include "executor/data/names.h"

#include <fmt/format.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "executor/data/formats/csv_reader.h"

namespace slipway {

namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";

/// Without case, Unicode form and blanks. Compatible characters are one, such as wide digits.
std::string folded(std::string_view name) {
    UErrorCode error = U_ZERO_ERROR;
    const auto* const folding = icu::Normalizer2::getNFKCCasefoldInstance(error);
    const icu::UnicodeString plain = folding->normalize(
        icu::UnicodeString::fromUTF8({name.data(), std::int32_t(name.size())}), error);
    icu::UnicodeString kept;
    for (std::int32_t at = 0; at < plain.length(); at = plain.moveIndex32(at, 1)) {
        if (!u_isUWhiteSpace(plain.char32At(at))) kept.append(plain.char32At(at));
    }
    std::string text;
    return kept.toUTF8String(text);
}

/// One spelling for each number. Digits alone may be more than a double holds.
std::string plain_number(const std::string& text) {
    if (!text.empty() && text.find_first_not_of("0123456789") == text.npos) {
        const std::size_t first = text.find_first_not_of('0');
        return first == text.npos ? "0" : text.substr(first);
    }
    const std::string_view bare = std::string_view(text).substr(text.starts_with('+') ? 1 : 0);
    double number = 0;
    const auto [end, wrong] = std::from_chars(bare.data(), bare.data() + bare.size(), number);
    if (wrong != std::errc() || end != bare.data() + bare.size() || !std::isfinite(number))
        return text;
    return fmt::format("{}", number);
}

}    // namespace

std::string_view without_blanks(std::string_view name) {
    const std::size_t first = name.find_first_not_of(blanks);
    if (first == name.npos) return {};
    return name.substr(first, name.find_last_not_of(blanks) - first + 1);
}

std::string look_of(std::string_view name) {
    return plain_number(folded(name));
}

std::optional<std::string> look_alikes_message(std::string_view kind,
                                               std::span<const std::string> names) {
    std::unordered_map<std::string, std::string> seen;
    std::string message;
    std::int64_t more = 0;
    for (const std::string& name : names) {
        const auto [earlier, added] = seen.try_emplace(look_of(name), name);
        if (added) continue;
        if (!message.empty()) {
            ++more;
            continue;
        }
        message = fmt::format(
            "the {} {} and {} differ only in blanks, case, Unicode form or the spelling of a "
            "number; if they are one, write them alike",
            kind, shown(earlier->second), shown(name));
    }
    if (message.empty()) return std::nullopt;
    if (more > 0) message += fmt::format(" ({} more like that)", more);
    return message;
}

}    // namespace slipway
