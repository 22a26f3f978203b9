#pragma once

#include "api/base/json.h"
#include "scheduler/store/store.h"

namespace slipway::store {

/// Stored JSON text; null when empty.
Json stored_json(const JsonText& text);

}    // namespace slipway::store
