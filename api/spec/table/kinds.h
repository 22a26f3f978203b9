#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/spec/table/definitions.h"
#include "api/spec/table/nearest.h"
#include "api/spec/table/reader.h"
#include "api/spec/table/spelling.h"

namespace slipway {

// The kinds of values that a field can have. Each says how it is read, written, described in a
// schema and in words. Reading reports every problem and may then leave `value` as it was.
// See collections.h for arrays and maps, object.h for objects.

/// A form of text, in words and as a pattern for schemas. `holds` judges.
struct TextForm {
    std::string_view wanted;
    std::string_view pattern;
    bool (*holds)(std::string_view text);
};

/// "a word of letters, digits, . _ -": names of projects and datasets, keys of labels.
extern const TextForm plain_name;
/// Of a member: as a login or an address of mail is written, in lower case.
extern const TextForm member_name;
/// 64 hexadecimal digits.
extern const TextForm sha256_form;

/// A text without control characters; lengths are in characters.
struct Text {
    std::size_t min = 1;
    std::size_t max = 200;
    const TextForm* form = nullptr;    ///< lives for ever
    /// Of a thing that is shown among others: a request cannot make it read otherwise than it is.
    bool is_name = false;

    using Value = std::string;
    void read(const Json& json, std::string& value, const Reader& at) const;
    Json write(const std::string& value) const;
    Json schema(Definitions&) const;
    std::string wanted() const;
};

/// A whole number; 5.0 is one.
struct Integer {
    std::int64_t min = 0;
    std::int64_t max = 9007199254740991;    ///< 2^53 - 1: what every JSON reader keeps exact
    std::int64_t multiple_of = 1;

    using Value = std::int64_t;
    void read(const Json& json, std::int64_t& value, const Reader& at) const;
    Json write(std::int64_t value) const;
    Json schema(Definitions&) const;
    std::string wanted() const;
};

/// One of a few whole numbers.
struct IntegerChoice {
    std::vector<std::int64_t> allowed;

    using Value = std::int64_t;
    void read(const Json& json, std::int64_t& value, const Reader& at) const;
    Json write(std::int64_t value) const;
    Json schema(Definitions&) const;
    std::string wanted() const;
};

/// A finite number. `above` and `below` exclude the bound, `min` and `max` include it.
struct Number {
    std::optional<double> min = {};
    std::optional<double> max = {};
    std::optional<double> above = {};
    std::optional<double> below = {};

    using Value = double;
    void read(const Json& json, double& value, const Reader& at) const;
    Json write(double value) const;
    Json schema(Definitions&) const;
    std::string wanted() const;
};

/// true or false.
struct Flag {
    using Value = bool;
    void read(const Json& json, bool& value, const Reader& at) const;
    Json write(bool value) const;
    Json schema(Definitions&) const;
    std::string wanted() const { return "true or false"; }
};

/// RFC 3339, UTC.
struct Time {
    using Value = Instant;
    void read(const Json& json, Instant& value, const Reader& at) const;
    Json write(Instant value) const;
    Json schema(Definitions&) const;
    std::string wanted() const;
};

/// A text that is one of a few words. `later` are words that are documented but do not exist yet.
struct Word {
    std::span<const std::string_view> allowed;
    std::vector<std::string_view> later = {};

    using Value = std::string;
    void read(const Json& json, std::string& value, const Reader& at) const;
    Json write(const std::string& value) const;
    Json schema(Definitions&) const;
    std::string wanted() const;
};

/// A Word that is an enumerator.
template <Spelled E>
struct Choice {
    std::vector<std::string_view> later = {};

    using Value = E;
    Word word() const { return {all_words<E>(), later}; }
    void read(const Json& json, E& value, const Reader& at) const {
        std::string text;
        word().read(json, text, at);
        value = parse_word<E>(text).value_or(value);
    }
    Json write(E value) const { return word().write(std::string(to_string(value))); }
    Json schema(Definitions& definitions) const { return word().schema(definitions); }
    std::string wanted() const { return word().wanted(); }
};

/// Any JSON object, kept as it is.
struct AnyObject {
    using Value = Json;
    void read(const Json& json, Json& value, const Reader& at) const;
    Json write(const Json& value) const { return value; }
    Json schema(Definitions&) const;
    std::string wanted() const { return "an object"; }
};

/// "a, b or c".
std::string joined_with_or(std::span<const std::string_view> words);

/// As strings of their own, for `Problem::allowed`.
std::vector<std::string> as_strings(std::span<const std::string_view> words);

}    // namespace slipway
