#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/base/posix.h"
#include "scheduler/launcher/node_link/secret_channel.h"

namespace slipway {

struct LinkListenerOptions {
    std::string address;
    std::uint16_t port = 0;    ///< 0: the system chooses one
    /// Connections that have not proved anything yet. When one more comes, the oldest is closed: a
    /// node needs some milliseconds, a client without a key keeps the list full only by connecting
    /// again.
    std::size_t pending_max = 256;
    std::chrono::milliseconds handshake_max{5000};
    std::chrono::milliseconds tell_every{10000};    ///< of those that were refused
};

/// Where the nodes of a cluster connect to, each for one program: a connection belongs to the
/// program whose key it proves, and becomes a local socket with what the program says. A newer one
/// takes the place of an older one of the same program, which may be dead without knowing it. One
/// thread of its own; the calls are safe from every thread and do not wait.
class LinkListener {
public:
    /// `clock` outlives the listener.
    /// errors  throws unavailable when it cannot listen at the address
    LinkListener(LinkListenerOptions options, const Clock& clock);
    ~LinkListener();
    LinkListener(const LinkListener&) = delete;
    LinkListener& operator=(const LinkListener&) = delete;

    std::uint16_t port() const;

    /// From now on whoever proves this key is let in. `name` is for a person.
    void expect(const LinkKey& key, const std::string& name);
    /// Nobody of this identity any longer; a connection of it is closed.
    void forget(const std::string& identity);
    /// The newest connection of this identity, once; none: there is no newer one.
    std::optional<UniqueFd> take(const std::string& identity);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway
