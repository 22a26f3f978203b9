#pragma once

#include <string>
#include <vector>

#include "api/client/service.h"

namespace slipway::client {

struct RetryOptions {
    std::vector<std::string> codes = {};    ///< empty: everything that failed
    bool dry_run = false;
};

/// What failed of a sweep or a cross-validation, tried again, and printed as a table. `part` names
/// a row of it: "trial" or "fold"; `number` is the field with its number.
ExitCode retry_failed(const HttpClient& client, const std::string& path,
                      const RetryOptions& options, const char* part, const char* number);

}    // namespace slipway::client
