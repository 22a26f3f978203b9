#pragma once

#include <string>

#include "api/client/service.h"

namespace slipway::client {

/// The id of the job that a user means: by its id, by the beginning of its id, or by its name.
/// errors  throws Stop{refused} when there is none, and when there are several, which it lists
std::string find_job(const HttpClient& client, const std::string& text);

}    // namespace slipway::client
