#pragma once

#include <functional>
#include <string>

#include "api/client/http_client.h"

namespace slipway::client {

/// Calls `look` when the stream of events at `target` has opened, and then whenever it says
/// something, four times a second at most, until it returns true. A stream that breaks is taken up
/// again where it broke, for as long as the service comes back within five minutes.
/// errors  throws Stop
void watch_stream(const HttpClient& client, const std::string& target,
                  const std::function<bool()>& look);

}    // namespace slipway::client
