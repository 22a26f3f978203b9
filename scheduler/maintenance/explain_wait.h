#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/placement/placement.h"
#include "scheduler/store/store.h"

namespace slipway {

/// Why a queued job waits, however far behind; nothing when the next pass will place it, and for
/// what is not queued.
/// errors  throws unavailable
std::optional<WaitReason> explain_wait(store::Store& store, const std::string& job_id,
                                       std::chrono::milliseconds host_silence_max);

/// What the next pass would decide on the jobs that it looks at, of these projects (empty: of all).
struct DecisionCounts {
    std::int64_t starting = 0;
    std::map<std::string, std::int64_t> waiting = {};    ///< by code
};

/// errors  throws unavailable
DecisionCounts count_decisions(store::Store& store, const std::vector<std::string>& projects,
                               std::chrono::milliseconds host_silence_max);

}    // namespace slipway
