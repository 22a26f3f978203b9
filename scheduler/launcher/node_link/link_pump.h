#pragma once

#include <poll.h>

#include <functional>
#include <string>
#include <vector>

#include "api/base/posix.h"
#include "scheduler/launcher/node_link/secret_channel.h"

namespace slipway {

/// Carries what comes on a channel to a local socket and back, with a bounded amount on the way:
/// who does not read holds who writes. Never blocks, but for `before_send`. One thread.
class LinkPump {
public:
    /// The handshake of `channel` is done; `local` does not block. `before_send` is called when
    /// something has come from `local`, with it, before it is sent on.
    LinkPump(SecretChannel channel, UniqueFd local,
             std::function<void(std::string_view)> before_send = {});

    /// What to wait for.
    void add_polled(std::vector<pollfd>& polled) const;
    /// Does what can be done now. False: one end has closed, and what it said before has been
    /// passed on as far as the other one takes it.
    bool work();

private:
    bool carry_in();
    bool carry_out();

    SecretChannel channel_;
    UniqueFd local_;
    std::function<void(std::string_view)> before_send_;
    std::string incoming_;    // from the channel
    std::string outgoing_;    // to the channel
    bool local_ended_ = false;
};

}    // namespace slipway
