#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "api/base/result.h"

namespace slipway {

using Json = nlohmann::json;

/// How much JSON from outside may hold. Checked before any value is built.
struct JsonLimits {
    std::size_t bytes_max = 1 << 20;
    std::size_t depth_max = 32;       ///< arrays and objects inside one another
    std::size_t items_max = 10000;    ///< of one array or object
};

/// One place where the text is well-formed JSON but breaks our rules.
struct JsonProblem {
    std::string pointer;    ///< RFC 6901
    std::string code;       ///< "duplicate_key"
    std::string message;
};

/// A value and what is wrong with it: parsed_json.h.
struct ParsedJson;

/// Parses JSON from outside. Refused as not JSON (Error invalid_argument, with line and column):
/// anything RFC 8259 refuses, bytes after the value, NUL, invalid UTF-8, lone surrogates, deeper
/// than `depth_max`, over the item or byte limit. A number too large for a double becomes an
/// infinity, which no field accepts (spec/object.h). A duplicate key is not an error here but a
/// problem, so that it is reported together with the fields' problems; the last value stands.
/// What comes out is at most `depth_max` deep: safe to copy, dump and destroy.
Result<ParsedJson> parse_json(std::string_view text, const JsonLimits& limits = {});

/// The RFC 6901 pointer to member `key` (or to item `index`) of what `parent` points to.
std::string json_pointer(std::string_view parent, std::string_view key);
std::string json_pointer(std::string_view parent, std::size_t index);

}    // namespace slipway
