#pragma once

#include <cstdint>

#include "scheduler/store/store.h"

namespace slipway {

/// Why a cross-validation ends whose creator may no longer submit jobs.
store::Reason owner_lost();

/// Cancels each cross-validation that has not ended and whose token was revoked or has lost the
/// role of an editor in its project: its folds that run would have gone on until the next one
/// begins. Costs two statements, whatever their number. Returns how many were cancelled.
/// errors  throws unavailable
std::int64_t cancel_those_without_owner(store::Store& store);

}    // namespace slipway
