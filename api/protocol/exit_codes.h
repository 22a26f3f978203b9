#pragma once

namespace slipway {

/// Exit code of an executor whose disk is so full that it could not write its `done` frame.
inline constexpr int exit_disk_full = 74;

}    // namespace slipway
