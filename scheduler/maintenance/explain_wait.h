#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "scheduler/placement/placement.h"
#include "scheduler/store/store.h"

namespace slipway {

/// Why a queued job waits, however far behind; nothing when the next pass will place it, and for
/// what is not queued.
/// errors  throws unavailable
std::optional<WaitReason> explain_wait(store::Store& store, const std::string& job_id,
                                       std::chrono::milliseconds host_silence_max);

}    // namespace slipway
