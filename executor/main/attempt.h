#pragma once

#include <chrono>
#include <filesystem>

#include "api/base/clock.h"
#include "executor/main/ending.h"
#include "executor/main/frames/frame_listener.h"

namespace slipway {

/// Runs the attempt that run_folder/attempt.json describes, under an agent: frames to frames.ndjson
/// and executor.sock, stop requests from there and from SIGTERM. Without an agent for the grace
/// time the run saves and ends; when it does not manage to within as long again, the process ends.
/// Throws nothing. Returns how it ended.
/// listener  of a process that stays; null: the attempt has its own
Ending run_to_ending(const std::filesystem::path& run_folder, const Trainer& trainer,
                     const Clock& clock, FrameListener* listener = nullptr);
/// The same; returns the exit code.
int run_attempt(const std::filesystem::path& run_folder, const Trainer& trainer,
                const Clock& clock);

}    // namespace slipway
