#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/launcher/confine/limits.h"
#include "scheduler/launcher/confine/paths.h"

namespace slipway {

/// What one executor may use beside the machine's libraries and its own program.
struct Confinement {
    std::filesystem::path confiner;      ///< the program slipway-confine
    std::optional<uid_t> user;           ///< to become; only root can
    std::vector<gid_t> shared_groups;    ///< of whose files it may read those that groups may
    ResourceLimits limits;
    AllowedPaths paths;
    /// In which it inherits a socket to listen at (api/base/executor_socket.h); empty: it has none.
    std::filesystem::path socket_folder = {};
    bool connects = false;    ///< to other hosts, as a member of a slice
};

/// The arguments of slipway-confine that run `program` with `arguments` under `confinement`.
std::vector<std::string> confine_arguments(const Confinement& confinement,
                                           const std::filesystem::path& program,
                                           const std::vector<std::string>& arguments);

}    // namespace slipway
