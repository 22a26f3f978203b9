#pragma once

#include <functional>
#include <optional>

#include "api/base/posix.h"
#include "api/protocol/worker_messages.h"

namespace slipway {

/// An order, and what makes it ours alone.
struct ReceivedOrder {
    WorkerOrder order;
    UniqueFd lock;    ///< of the run folder; held while the attempt runs
};

/// An executor's end of the socket that its orders come from: api/protocol/worker_messages.h. One
/// thread.
class OrderSocket {
public:
    explicit OrderSocket(UniqueFd socket) : socket_(std::move(socket)) {}

    /// Waits for the next order. None: the agent has closed its end, or a signal came and
    /// `stopping` says so.
    std::optional<ReceivedOrder> next(const std::function<bool()>& stopping);
    /// The attempt has ended and nothing of it is left. False: nobody gives orders from now on.
    bool answer(const WorkerAnswer& answer);

private:
    UniqueFd socket_;
};

}    // namespace slipway
