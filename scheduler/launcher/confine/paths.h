#pragma once

#include <filesystem>
#include <vector>

namespace slipway {

/// Files and folders (with all below them) that a process may use. What is not listed does not
/// exist for it, whoever owns it.
struct AllowedPaths {
    std::vector<std::filesystem::path> readable;
    std::vector<std::filesystem::path> executable;    ///< and readable
    std::vector<std::filesystem::path> writable;      ///< and readable; no links, no devices
};

constexpr int landlock_with_truncation = 3;
constexpr int landlock_with_tcp = 4;
constexpr int landlock_with_scopes = 6;    ///< of signals and abstract sockets

/// The version of Landlock that the kernel has; 0: none.
int landlock_version();

/// Confines this thread and what it becomes to these paths, to its own abstract sockets and to
/// signals among its own (Landlock 6), and takes TCP away (Landlock 4). A path that does not exist
/// is passed over. False when the kernel has no Landlock: nothing is confined.
/// errors  throws unavailable with the path and the system's reason
bool confine_to_paths(const AllowedPaths& paths);

}    // namespace slipway
