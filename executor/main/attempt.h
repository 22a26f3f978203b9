#pragma once

#include <chrono>
#include <filesystem>

#include "api/base/clock.h"
#include "executor/main/ending.h"

namespace slipway {

/// Runs the attempt that run_folder/attempt.json describes, under an agent: frames to frames.ndjson
/// and executor.sock, stop requests from there and from SIGTERM. Without an agent for the grace
/// time the run saves and ends; when it does not manage to within as long again, the process ends.
/// Throws nothing. Returns how it ended.
Ending run_to_ending(const std::filesystem::path& run_folder, const Trainer& trainer,
                     const Clock& clock);
/// The same; returns the exit code.
int run_attempt(const std::filesystem::path& run_folder, const Trainer& trainer,
                const Clock& clock);

}    // namespace slipway
