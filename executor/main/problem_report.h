#pragma once

#include <functional>
#include <string>

#include "api/base/json.h"

namespace slipway {

/// What `make` reports, as JSON text; when it throws an Error, a report with that as its one
/// problem:
///   {"error": its code, "problems": [{"file", "row", "field", "message"}], "problem_count": 1}
std::string report_or_problem(const std::function<Json()>& make);

}    // namespace slipway
