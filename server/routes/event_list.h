#pragma once

#include <string>

#include "server/routes/services.h"

namespace slipway::routes {

/// The events of a job or of a cross-validation of `project`, which the caller may see: a page as
/// JSON, or a live stream for `Accept: text/event-stream`.
Response event_list(const Context& context, const std::string& id, const std::string& project);

}    // namespace slipway::routes
