#pragma once

#include <poll.h>

#include <optional>

#include "scheduler/launcher/launcher.h"

namespace slipway {

/// The exit status of a process that ends within a minute; none when it does not.
inline std::optional<int> exit_of(LaunchedProcess& process) {
    pollfd ended{process.end_fd(), POLLIN, 0};
    if (poll(&ended, 1, 60'000) != 1) return std::nullopt;
    const std::optional<ProcessExit> exit = process.collect_exit();
    return exit ? std::optional(exit->status) : std::nullopt;
}

}    // namespace slipway
