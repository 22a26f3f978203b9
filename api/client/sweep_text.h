#pragma once

#include <string>

#include "api/base/json.h"

namespace slipway::client {

// What the commands about sweeps share.

/// "/v1/sweeps/ID".
std::string sweep_path(const std::string& sweep_id);

/// The values of a trial in one line: "train.optimizer.lr=0.01 model.width=16".
std::string point_text(const Json& point);

/// The same for a table: numbers in five significant digits.
std::string rounded_point_text(const Json& point);

}    // namespace slipway::client
