#pragma once

#include "api/base/json.h"
#include "executor/import/network.h"

namespace slipway::importer {

/// The network that an archive's program says; its `shares` and numbers come with the values.
/// errors  invalid_argument, or JSON's own exceptions: another schema, arguments that are not read
Network network_of(const Json& program);

}    // namespace slipway::importer
