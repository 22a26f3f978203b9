#include "scheduler/launcher/slurm/node_reach.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>

#include "api/base/error.h"
#include "api/base/posix.h"
#include "scheduler/launcher/node_link/tcp.h"

// The system's routing table is asked by UDP sockets that are bound and connected: this sends
// nothing. An address is of this machine if a socket can be bound to it, and a node is reached from
// an address if a socket bound to it can be connected to the node.
namespace slipway {

namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

constexpr const char* any_port = "0";
constexpr const char* discard_port = "9";

AddressList find_addresses(const std::string& host, const char* port, int family, int flags = 0) {
    addrinfo wanted{};
    wanted.ai_family = family;
    wanted.ai_socktype = SOCK_DGRAM;
    wanted.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), port, &wanted, &found) != 0) found = nullptr;
    return {found, freeaddrinfo};
}

UniqueFd bound_to(const addrinfo& address) {
    UniqueFd made(socket(address.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!made || bind(made.get(), address.ai_addr, address.ai_addrlen) != 0) return UniqueFd();
    return made;
}

bool is_here(const ClusterNode& node) {
    const AddressList found = find_addresses(node.address, any_port, AF_UNSPEC);
    for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next)
        if (bound_to(*one)) return true;
    return false;
}

[[noreturn]] void refuse(const std::string& why) {
    throw Error{ErrorCode::unavailable, why};
}

/// Why the node is not reached from there; nullptr: it is, or its address is not known here.
const char* what_hinders(const addrinfo& from, const ClusterNode& node) {
    const AddressList found = find_addresses(node.address, discard_port, from.ai_family);
    const char* reason = nullptr;
    for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
        const UniqueFd probe = bound_to(from);
        if (connect(probe.get(), one->ai_addr, one->ai_addrlen) == 0) return nullptr;
        reason = std::strerror(errno);
    }
    return reason;
}

}    // namespace

std::vector<ClusterNode> nodes_elsewhere(const std::vector<ClusterNode>& nodes) {
    std::vector<ClusterNode> found;
    std::ranges::remove_copy_if(nodes, std::back_inserter(found), is_here);
    return found;
}

void check_node_reach(const std::string& address, const std::vector<ClusterNode>& elsewhere) {
    check_listening_port(address, 0);
    if (elsewhere.empty()) return;
    const AddressList from = find_addresses(address, any_port, AF_UNSPEC, AI_NUMERICHOST);
    const bool is_loopback = address == "::1" || address.starts_with("127.");
    if (is_loopback)
        refuse(fmt::format("{} is reached from this machine only, and node {} is another one",
                           address, elsewhere.front().name));
    for (const ClusterNode& node : elsewhere)
        if (const char* reason = what_hinders(*from, node))
            refuse(fmt::format("there is no way between {} and node {} at {}: {}", address,
                               node.name, node.address, reason));
}

void check_listening_port(const std::string& address, std::uint16_t port) {
    listen_tcp(address, port);
}

}    // namespace slipway
