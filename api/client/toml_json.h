#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

#include "api/base/json.h"

namespace slipway::client {

/// A TOML document as JSON: a table is an object, an array an array.
/// name   of the document, for errors
/// errors  throws Stop{usage} with the line for text that is no TOML, and for values that JSON does
///         not have: dates, nan and inf
Json toml_to_json(std::string_view text, const std::string& name);

}    // namespace slipway::client
