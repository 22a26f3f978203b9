#pragma once

#include <filesystem>

namespace slipway {

/// Whether this build of the agent can read the order (attempt.json) in this run folder: each of
/// its fields and of those of its spec. False: a newer service has submitted the job, or the file
/// is no order. What the executor wrote there instead concerns its own job alone.
bool knows_order(const std::filesystem::path& run_folder);

}    // namespace slipway
