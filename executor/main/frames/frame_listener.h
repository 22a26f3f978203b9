#pragma once

#include <sys/types.h>

#include <filesystem>

#include "api/base/posix.h"

namespace slipway {

/// Listens at executor.sock in one run folder after the other. A process that was confined has
/// inherited the socket of its first run, and can make none. A process that stays finds the socket
/// of the last run in the folder of the next one (api/protocol/worker_messages.h) and goes on with
/// it. One thread at a time.
class FrameListener {
public:
    /// The listening socket, non-blocking; it stays the listener's. Connections from before the
    /// call may wait there.
    /// errors  throws unavailable when the socket cannot be made
    int listen_in(const std::filesystem::path& run_folder);

private:
    /// What stands at a path.
    struct Entry {
        dev_t device = 0;
        ino_t inode = 0;
        bool operator==(const Entry&) const = default;
    };
    static Entry entry_in(const std::filesystem::path& run_folder);

    UniqueFd socket_;
    Entry entry_;    // what its name stood for when it was bound
};

}    // namespace slipway
