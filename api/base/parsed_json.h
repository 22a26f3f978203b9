#pragma once

#include <nlohmann/json.hpp>

#include <vector>

#include "api/base/json.h"

namespace slipway {

/// What parse_json found. Apart from json.h because this one needs the whole library.
struct ParsedJson {
    Json value;
    std::vector<JsonProblem> duplicates;    ///< in the order of the text; at most 100
    bool is_stored = false;    ///< by the service, maybe by an earlier build; else of a request
};

}    // namespace slipway
