#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/base/json.h"
#include "api/spec/field.h"

namespace slipway {

/// Throws 422 with every problem, when there is one. `code` is the body's ("invalid_spec"), `what`
/// names what was read ("the job spec").
void throw_problems(const std::vector<Problem>& problems, std::string_view code,
                    std::string_view what);

/// The `warnings` of an answer.
Json render_warnings(const std::vector<Problem>& warnings);

/// Throws 404 `not_found`: "there is no job job_…". Also for what exists but is not theirs to see.
[[noreturn]] void throw_not_found(std::string_view what, std::string_view id);

}    // namespace slipway
