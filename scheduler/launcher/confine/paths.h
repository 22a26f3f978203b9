#pragma once

#include <filesystem>
#include <vector>

#include "api/base/posix.h"

namespace slipway {

/// Files and folders (with all below them) that a process may use. What is not listed does not
/// exist for it, whoever owns it.
struct AllowedPaths {
    std::vector<std::filesystem::path> readable;
    std::vector<std::filesystem::path> executable;    ///< and readable
    std::vector<std::filesystem::path> writable;      ///< and readable; no links, no devices
    /// Connects by TCP to the ephemeral ports of the system, and listens on such.
    bool connects = false;
};

constexpr int landlock_with_truncation = 3;
constexpr int landlock_with_tcp = 4;
constexpr int landlock_with_scopes = 6;    ///< of signals and abstract sockets

/// The version of Landlock that the kernel has; 0: none.
int landlock_version();

/// Rules that allow these paths. To be made before privileges are dropped: a path may lie below a
/// folder that only the service can enter. A path that does not exist is passed over. None when the
/// kernel has no Landlock.
/// errors  throws unavailable with the path and the system's reason
UniqueFd make_path_rules(const AllowedPaths& paths);

/// Confines this thread and what it becomes to the paths of the rules, to its own abstract sockets
/// and to signals among its own (Landlock 6). TCP is forbidden (Landlock 4); with `connects` the
/// ephemeral ports stay allowed. Without rules nothing is confined.
/// errors  throws unavailable with the system's reason
void enforce_path_rules(const UniqueFd& rules);

}    // namespace slipway
