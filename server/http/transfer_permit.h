#pragma once

#include <mutex>
#include <optional>

#include "server/http/target.h"

namespace slipway {

/// Whether a body that is under way, in either direction, may go on. Whoever allowed it may end it
/// at any time; it is asked at least once a second while bytes are awaited, and before each piece
/// that is sent. Safe from every thread.
class TransferPermit {
public:
    /// Ends it; of several reasons the first one stays.
    void end(Refusal why);

    /// What a client that sends is told; none while it may go on.
    std::optional<Refusal> ended() const;

private:
    mutable std::mutex mutex_;
    std::optional<Refusal> why_;    // guarded by mutex_
};

}    // namespace slipway
