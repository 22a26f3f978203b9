#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "api/base/json.h"

namespace slipway {

/// What `make` reports, as JSON text; when it throws an Error, a report with that as its one
/// problem:
///   {"error": its code, "problems": [{"file", "row", "field", "message"}], "problem_count": 1}
/// A report of more than `bytes_max` bytes, and one for which the memory does not suffice, is such
/// a problem too: exhausted.
std::string report_or_problem(const std::function<Json()>& make, std::size_t bytes_max);

}    // namespace slipway
