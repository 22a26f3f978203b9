#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/base/posix.h"

// What a link needs of TCP. Addresses are numbers ("10.0.0.5", "fd00::5"): no name is looked up.
namespace slipway {

/// Listens, without blocking. Port 0: the system chooses one.
/// errors  throws unavailable: it is no address of this machine, the port is taken
UniqueFd listen_tcp(const std::string& address, std::uint16_t port);
/// The port of a listening socket.
std::uint16_t port_of(const UniqueFd& listener);

/// A connection that has begun and does not block; none when it cannot even begin.
std::optional<UniqueFd> begin_connect(const std::string& address, std::uint16_t port);
/// After a connection became writable: 0, or the reason (errno) why there is none.
int connect_problem(const UniqueFd& connection);

/// Words are sent at once, and a connection whose other end has not answered for some seconds is
/// ended: sooner than silence would be taken for the end of an executor.
void prepare_link(const UniqueFd& connection);

/// "10.0.0.7", who is at the other end; empty: not known.
std::string peer_of(const UniqueFd& connection);
/// The address of this machine from which it reaches another one; empty: it has no way there.
/// Nothing is sent.
std::string address_towards(const std::string& address);

}    // namespace slipway
