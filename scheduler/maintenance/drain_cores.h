#pragma once

#include "scheduler/store/store.h"

namespace slipway {

/// Takes cores out on which job after job crashes (store::drain_failing_core). Returns how many.
std::int64_t drain_failing_cores(store::Store& store, const store::LeaderTerm& term);

}    // namespace slipway
