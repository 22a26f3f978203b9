#include "api/spec/table/kinds.h"
#include "api/base/plural.h"
#include "api/base/printable.h"

#include <algorithm>
#include <cmath>

namespace slipway {

namespace {

constexpr double whole_numbers_max = 9007199254740992.0;    // 2^53
constexpr std::int64_t few_max = 16;    // so many allowed numbers are listed one by one

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_plain_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 && is_letter_or_digit(text.front()) &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
           });
}

bool is_member_name(std::string_view text) {
    const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    return !text.empty() && text.size() <= 64 && is_plain(text.front()) &&
           std::all_of(text.begin(), text.end(), [&](char c) {
               return is_plain(c) || c == '.' || c == '_' || c == '-' || c == '@';
           });
}

bool is_sha256_hex(std::string_view text) {
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

std::size_t characters_of(std::string_view text) {
    return std::size_t(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool has_control_character(std::string_view text) {
    return std::ranges::any_of(text, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
}

/// The whole number that a JSON value is; none for other types and for fractions.
std::optional<std::int64_t> as_whole(const Json& json) {
    if (json.is_number_unsigned()) {
        const auto value = json.get<std::uint64_t>();
        // Larger ones are out of any field's bounds as well.
        return std::int64_t(std::min<std::uint64_t>(value, INT64_MAX));
    }
    if (json.is_number_integer()) return json.get<std::int64_t>();
    if (!json.is_number_float()) return std::nullopt;
    const double value = json.get<double>();
    if (value != std::trunc(value)) return std::nullopt;
    if (std::abs(value) > whole_numbers_max) return value < 0 ? INT64_MIN : INT64_MAX;
    return std::int64_t(value);
}

/// Codes: a number that is not whole is out of bounds rather than of another type.
const char* code_of_refused_number(const Json& json) {
    return json.is_number() ? "out_of_bounds" : "wrong_type";
}

}    // namespace

const TextForm plain_name{
    "1 to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit",
    "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", is_plain_name};
const TextForm member_name{
    "1 to 64 lowercase letters, digits, dots, dashes, underscores and @, starting with a letter or "
    "digit",
    "^[a-z0-9][a-z0-9._@-]{0,63}$", is_member_name};
const TextForm sha256_form{"64 lowercase hexadecimal digits", "^[0-9a-f]{64}$", is_sha256_hex};

void Text::read(const Json& json, std::string& value, const Reader& at) const {
    if (!json.is_string()) return at.refuse("wrong_type", wanted(), json);
    const auto& text = json.get_ref<const std::string&>();
    if (form != nullptr && !form->holds(text)) return at.refuse("bad_format", wanted(), json);
    const std::size_t characters = characters_of(text);
    if (characters < min || characters > max) {
        return at.report("out_of_bounds", fmt::format("{} must be {}, got {}", at.path(), wanted(),
                                                      counted(characters, "character")));
    }
    if (has_control_character(text))
        return at.refuse("bad_format", wanted() + " without control characters", json);
    // Names of builds that had no such rule are stored.
    if (is_name && at.is_request() && !is_printable_line(text)) {
        return at.refuse("bad_format",
                         wanted() +
                             " without characters that control a terminal or turn the "
                             "direction of writing",
                         json);
    }
    value = text;
}

Json Text::write(const std::string& value) const {
    return value;
}

Json Text::schema(Definitions&) const {
    Json schema{{"type", "string"}};
    if (form != nullptr) {
        schema["pattern"] = form->pattern;
        return schema;
    }
    if (min > 0) schema["minLength"] = min;
    schema["maxLength"] = max;
    return schema;
}

std::string Text::wanted() const {
    if (form != nullptr) return std::string(form->wanted);
    if (min == 0) return fmt::format("a string of at most {}", counted(max, "character"));
    return fmt::format("a string of {} to {} characters", min, max);
}

void Integer::read(const Json& json, std::int64_t& value, const Reader& at) const {
    const auto whole = as_whole(json);
    if (!whole || *whole < min || *whole > max || *whole % multiple_of != 0) {
        std::vector<std::string> few;
        for (std::int64_t one = min; max - min < few_max && one <= max; one += multiple_of) {
            few.push_back(fmt::to_string(one));
        }
        return at.refuse(code_of_refused_number(json), wanted(), json, std::move(few));
    }
    value = *whole;
}

Json Integer::write(std::int64_t value) const {
    return value;
}

Json Integer::schema(Definitions&) const {
    Json schema{{"type", "integer"}, {"minimum", min}, {"maximum", max}};
    if (multiple_of != 1) schema["multipleOf"] = multiple_of;
    return schema;
}

std::string Integer::wanted() const {
    if (multiple_of != 1)
        return fmt::format("a multiple of {} from {} to {}", multiple_of, min, max);
    return fmt::format("a whole number from {} to {}", min, max);
}

void IntegerChoice::read(const Json& json, std::int64_t& value, const Reader& at) const {
    const auto whole = as_whole(json);
    if (whole && std::find(allowed.begin(), allowed.end(), *whole) != allowed.end()) {
        value = *whole;
        return;
    }
    std::vector<std::string> words;
    for (const std::int64_t one : allowed)
        words.push_back(fmt::to_string(one));
    at.refuse(json.is_number() ? "not_allowed" : "wrong_type", wanted(), json, std::move(words));
}

Json IntegerChoice::write(std::int64_t value) const {
    return value;
}

Json IntegerChoice::schema(Definitions&) const {
    return {{"type", "integer"}, {"enum", allowed}};
}

std::string IntegerChoice::wanted() const {
    std::vector<std::string> words;
    for (const std::int64_t one : allowed)
        words.push_back(fmt::to_string(one));
    return joined_with_or(std::vector<std::string_view>(words.begin(), words.end()));
}

void Number::read(const Json& json, double& value, const Reader& at) const {
    if (!json.is_number()) return at.refuse("wrong_type", wanted(), json);
    const double number = json.get<double>();
    const bool fits = std::isfinite(number) && (!min || number >= *min) &&
                      (!max || number <= *max) && (!above || number > *above) &&
                      (!below || number < *below);
    if (!fits) return at.refuse("out_of_bounds", wanted(), json);
    value = number;
}

Json Number::write(double value) const {
    return value;
}

Json Number::schema(Definitions&) const {
    Json schema{{"type", "number"}};
    if (min) schema["minimum"] = *min;
    if (max) schema["maximum"] = *max;
    if (above) schema["exclusiveMinimum"] = *above;
    if (below) schema["exclusiveMaximum"] = *below;
    return schema;
}

std::string Number::wanted() const {
    if (min && max) return fmt::format("a number from {} to {}", *min, *max);
    if (above && below)
        return fmt::format("a number between {} and {}, both excluded", *above, *below);
    if (above && max) return fmt::format("a number above {}, at most {}", *above, *max);
    if (min && below) return fmt::format("a number of at least {} and below {}", *min, *below);
    if (min) return fmt::format("a number of at least {}", *min);
    if (above) return fmt::format("a number above {}", *above);
    if (max) return fmt::format("a number of at most {}", *max);
    if (below) return fmt::format("a number below {}", *below);
    return "a finite number";
}

void Flag::read(const Json& json, bool& value, const Reader& at) const {
    if (!json.is_boolean()) return at.refuse("wrong_type", wanted(), json, {"true", "false"});
    value = json.get<bool>();
}

Json Flag::write(bool value) const {
    return value;
}

Json Flag::schema(Definitions&) const {
    return {{"type", "boolean"}};
}

void Time::read(const Json& json, Instant& value, const Reader& at) const {
    if (!json.is_string()) return at.refuse("wrong_type", wanted(), json);
    const Result<Instant> time = parse_rfc3339(json.get_ref<const std::string&>());
    if (!time) return at.refuse("bad_format", wanted(), json);
    value = *time;
}

Json Time::write(Instant value) const {
    return to_rfc3339(value);
}

Json Time::schema(Definitions&) const {
    return {{"type", "string"}, {"format", "date-time"}};
}

std::string Time::wanted() const {
    return "a UTC time such as \"2030-01-31T20:00:00Z\"";
}

void Word::read(const Json& json, std::string& value, const Reader& at) const {
    if (!json.is_string()) return at.refuse("wrong_type", wanted(), json, as_strings(allowed));
    const auto& text = json.get_ref<const std::string&>();
    if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) {
        value = text;
        return;
    }
    if (std::find(later.begin(), later.end(), text) != later.end()) {
        return at.report("not_available_yet",
                         fmt::format("{} \"{}\" is not available yet; use {}", at.path(), text,
                                     joined_with_or(allowed)),
                         as_strings(allowed));
    }
    const auto meant = nearest(text, allowed);
    at.report("not_allowed",
              fmt::format("{} must be {}, got {}{}", at.path(), wanted(), shown(json),
                          meant ? fmt::format("; did you mean \"{}\"?", *meant) : ""),
              as_strings(allowed));
}

Json Word::write(const std::string& value) const {
    return value;
}

Json Word::schema(Definitions&) const {
    return {{"type", "string"}, {"enum", as_strings(allowed)}};
}

std::string Word::wanted() const {
    return joined_with_or(allowed);
}

void AnyObject::read(const Json& json, Json& value, const Reader& at) const {
    if (!json.is_object()) return at.refuse("wrong_type", wanted(), json);
    value = json;
}

Json AnyObject::schema(Definitions&) const {
    return {{"type", "object"}};
}

std::string joined_with_or(std::span<const std::string_view> words) {
    std::string text;
    for (std::size_t index = 0; index < words.size(); ++index) {
        if (index > 0) text += index + 1 == words.size() ? " or " : ", ";
        text += words[index];
    }
    return text;
}

std::vector<std::string> as_strings(std::span<const std::string_view> words) {
    return {words.begin(), words.end()};
}

}    // namespace slipway
