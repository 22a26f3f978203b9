#pragma once

#include "api/base/clock.h"

namespace slipway::store {

// A read whose answer others may share takes the time at which it was asked for, by
// system_clock(): no answer is older than that (pg/shared_read.h).

/// The question is asked with the call.
inline constexpr Tick asked_now = Tick::max();

}    // namespace slipway::store
