#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/client/http_client.h"

namespace slipway::client {

/// What ends a command that followed something: the commands that show more of it, without
/// "slipway", and its page on the dashboard, such as "sweeps/swp_01jd…".
void print_further(const HttpClient& client, std::string_view what,
                   std::span<const std::string> commands, std::string_view page);

}    // namespace slipway::client
