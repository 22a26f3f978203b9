#pragma once

#include <span>

#include "scheduler/store/pg/values.h"
#include "scheduler/store/queue.h"

namespace slipway::store {

/// Writes the reasons of those of these placements that have one and have made their attempt. None
/// when no placement has a reason.
std::optional<Statement> starts_statement(std::span<const Placement> placements);

}    // namespace slipway::store
