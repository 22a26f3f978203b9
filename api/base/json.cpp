#include "api/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "api/base/parsed_json.h"

// The library parses; what it gives are events, from which the value is built here without
// recursion, so that depth, items and repeated names can be limited and named. Numbers above the
// range of a double make the library give up, so they are replaced before it reads and put back as
// problems of their fields. Messages have line and column.
namespace slipway {

namespace {

constexpr std::size_t duplicates_max = 100;
constexpr std::size_t excerpt_max = 60;

/// "line 3, column 14" of a byte offset.
std::string place_of(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, std::min(offset, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = before.rfind('\n') + 1;    // npos + 1 is 0
    return fmt::format("line {}, column {}", line, before.size() - line_start + 1);
}

Error not_json(std::string_view place, std::string_view what) {
    return Error{ErrorCode::invalid_argument, fmt::format("not JSON: {}: {}", place, what)};
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// True for exactly one number of RFC 8259.
bool is_json_number(std::string_view token) {
    std::size_t at = 0;
    const auto take = [&](std::string_view any_of) {
        if (at >= token.size() || any_of.find(token[at]) == any_of.npos) return false;
        ++at;
        return true;
    };
    const auto take_digits = [&] {
        const std::size_t start = at;
        while (at < token.size() && is_digit(token[at]))
            ++at;
        return at > start;
    };
    take("-");
    if (!take("0") && !take_digits()) return false;
    if (take(".") && !take_digits()) return false;
    if (take("eE")) {
        take("+-");
        if (!take_digits()) return false;
    }
    return at == token.size();
}

struct Overflow {
    std::size_t number = 0;    ///< counted over all numbers of the text
    bool negative = false;
};

/// The text with every number that is too large for a double written as 0, and which ones those
/// were. The library gives up at such a number; a user deserves to hear which field holds it.
struct Tamed {
    std::string text;    ///< empty when nothing had to be replaced
    std::vector<Overflow> overflows;
};

std::size_t end_of_string(std::string_view text, std::size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
    }
    return at + 1;
}

Tamed tame_numbers(std::string_view text) {
    Tamed tamed;
    std::size_t numbers = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '"') {
            at = end_of_string(text, at);
            continue;
        }
        if (text[at] != '-' && !is_digit(text[at])) {
            ++at;
            continue;
        }
        const std::size_t end =
            std::min(text.find_first_not_of("0123456789+-.eE", at), text.size());
        const std::string token(text.substr(at, end - at));
        // Shorter tokens without an exponent cannot leave the range of a double.
        if ((token.size() > 308 || token.find_first_of("eE") != token.npos) &&
            is_json_number(token) && std::isinf(std::strtod(token.c_str(), nullptr))) {
            if (tamed.text.empty()) tamed.text = text;
            tamed.text.replace(at, token.size(), "0" + std::string(token.size() - 1, ' '));
            tamed.overflows.push_back({numbers, token.front() == '-'});
        }
        ++numbers;
        at = end;
    }
    return tamed;
}

/// Builds the value from the library's events, without recursion, and keeps the limits.
class Builder : public nlohmann::json_sax<Json> {
public:
    Builder(const JsonLimits& limits, const std::vector<Overflow>& overflows)
        : limits_(limits), overflows_(overflows) {}

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(std::int64_t value) override { return number(value); }
    bool number_unsigned(std::uint64_t value) override { return number(value); }
    bool number_float(double value, const std::string&) override { return number(value); }
    bool string(std::string& value) override { return add(std::move(value)); }
    bool binary(Json::binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(std::string& name) override {
        Level& level = levels_.back();
        if (level.value->contains(name)) report_duplicate(name);
        level.key = std::move(name);
        return true;
    }

    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception& found) override {
        refused_at_ = position == 0 ? 0 : position - 1;
        refusal_ = found.what();
        return false;
    }

    ParsedJson take() { return {std::move(root_), std::move(duplicates_)}; }
    const std::string& refusal() const { return refusal_; }
    std::size_t refused_at() const { return refused_at_; }
    bool over_limit() const { return over_limit_; }

private:
    struct Level {
        Json* value;    // an open array or object; not moved while it is open
        std::string key;
    };

    bool number(Json value) {
        if (overflowed_ < overflows_.size() && overflows_[overflowed_].number == numbers_) {
            const double infinity = std::numeric_limits<double>::infinity();
            value = overflows_[overflowed_++].negative ? -infinity : infinity;
        }
        ++numbers_;
        return add(std::move(value));
    }

    bool add(Json value) { return place(std::move(value)) != nullptr; }

    Json* place(Json value) {
        if (levels_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        Json& parent = *levels_.back().value;
        if (parent.size() >= limits_.items_max) {
            refuse(fmt::format("{} holds more than {} items", name_of_here(), limits_.items_max));
            return nullptr;
        }
        if (parent.is_array()) {
            parent.push_back(std::move(value));
            return &parent.back();
        }
        return &(parent[levels_.back().key] = std::move(value));
    }

    bool open(Json value) {
        if (levels_.size() >= limits_.depth_max) {
            return refuse(fmt::format("more than {} arrays and objects inside one another",
                                      limits_.depth_max));
        }
        Json* const placed = place(std::move(value));
        if (placed != nullptr) levels_.push_back({placed, {}});
        return placed != nullptr;
    }

    bool close() {
        levels_.pop_back();
        return true;
    }

    bool refuse(std::string why) {
        refusal_ = std::move(why);
        over_limit_ = true;
        return false;
    }

    std::string pointer_here() const {
        std::string pointer;
        for (std::size_t depth = 0; depth + 1 < levels_.size(); ++depth) {
            const Json& value = *levels_[depth].value;
            pointer = value.is_array() ? json_pointer(pointer, value.size() - 1)
                                       : json_pointer(pointer, levels_[depth].key);
        }
        return pointer;
    }

    std::string name_of_here() const {
        const std::string pointer = pointer_here();
        return pointer.empty() ? "the document" : pointer;
    }

    void report_duplicate(const std::string& name) {
        if (duplicates_.size() >= duplicates_max) return;
        duplicates_.push_back(
            {json_pointer(pointer_here(), name), "duplicate_key",
             fmt::format("\"{}\" is given more than once; keep one of them", name)});
    }

    const JsonLimits& limits_;
    const std::vector<Overflow>& overflows_;
    Json root_;
    std::vector<Level> levels_;
    std::vector<JsonProblem> duplicates_;
    std::size_t numbers_ = 0;
    std::size_t overflowed_ = 0;
    std::string refusal_;
    std::size_t refused_at_ = 0;
    bool over_limit_ = false;
};

/// The library's message without its own name and place (which is wrong at ends of lines):
/// "syntax error while parsing value - invalid literal; last read: 'x'".
std::string in_plain_words(std::string message) {
    if (const auto place = message.find(", column "); place != message.npos) {
        if (const auto colon = message.find(": ", place); colon != message.npos) {
            message.erase(0, colon + 2);
        }
    }
    if (const auto read = message.find("last read: '"); read != message.npos) {
        const std::size_t start = read + std::string_view("last read: '").size();
        if (message.size() > start + excerpt_max) {
            // The token may be the whole body; its end is where the trouble is.
            message.replace(start, message.size() - start - excerpt_max, "...");
        }
    }
    // The excerpt may hold, or now begin with, bytes that are not UTF-8.
    std::replace_if(
        message.begin(), message.end(), [](char c) { return (c & 0x80) != 0; }, '?');
    return message;
}

}    // namespace

std::string json_pointer(std::string_view parent, std::string_view key) {
    std::string pointer(parent);
    pointer += '/';
    for (const char c : key) {
        if (c == '~') {
            pointer += "~0";
        } else if (c == '/') {
            pointer += "~1";
        } else {
            pointer += c;
        }
    }
    return pointer;
}

std::string json_pointer(std::string_view parent, std::size_t index) {
    return fmt::format("{}/{}", parent, index);
}

Result<ParsedJson> parse_json(std::string_view text, const JsonLimits& limits) {
    if (text.size() > limits.bytes_max) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("the JSON has {} bytes, at most {} are accepted", text.size(),
                                 limits.bytes_max)};
    }
    // The library takes a NUL for the end of the text and would ignore what follows.
    if (const auto nul = text.find('\0'); nul != text.npos) {
        return not_json(place_of(text, nul), "a NUL byte");
    }
    const Tamed tamed = tame_numbers(text);
    Builder builder(limits, tamed.overflows);
    const std::string_view input = tamed.text.empty() ? text : std::string_view(tamed.text);
    if (Json::sax_parse(input, &builder)) return builder.take();
    if (builder.over_limit()) return Error{ErrorCode::invalid_argument, builder.refusal()};
    return not_json(place_of(text, builder.refused_at()), in_plain_words(builder.refusal()));
}

}    // namespace slipway
