#include "scheduler/launcher/node_link/tcp.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "api/base/error.h"

namespace slipway {

namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

constexpr int listen_backlog = 256;
constexpr int silence_max_ms = 5000;    // of the system at the other end
constexpr int probe_after_s = 2;

AddressList parse_address(const std::string& address, std::uint16_t port, int type) {
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = type;
    wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const std::string service = fmt::to_string(port);
    if (getaddrinfo(address.c_str(), service.c_str(), &wanted, &found) != 0) found = nullptr;
    return {found, freeaddrinfo};
}

void set_number(const UniqueFd& connection, int level, int name, int value) {
    setsockopt(connection.get(), level, name, &value, sizeof value);
}

std::string text_of(const sockaddr_storage& address, socklen_t length) {
    std::array<char, NI_MAXHOST> text{};
    const auto* plain = reinterpret_cast<const sockaddr*>(&address);
    if (getnameinfo(plain, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
        return {};
    return text.data();
}

}    // namespace

UniqueFd listen_tcp(const std::string& address, std::uint16_t port) {
    const auto refuse = [&](const char* why) {
        throw Error{ErrorCode::unavailable,
                    fmt::format("cannot listen at {} port {}: {}", address, port, why)};
    };
    const AddressList list = parse_address(address, port, SOCK_STREAM);
    if (!list) refuse("it is no address");
    UniqueFd listener(
        socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
    if (!listener) refuse(std::strerror(errno));
    set_number(listener, SOL_SOCKET, SO_REUSEADDR, 1);
    if (bind(listener.get(), list->ai_addr, list->ai_addrlen) != 0 ||
        listen(listener.get(), listen_backlog) != 0)
        refuse(std::strerror(errno));
    return listener;
}

std::uint16_t port_of(const UniqueFd& listener) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
    return ntohs(address.ss_family == AF_INET6
                     ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                     : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

std::optional<UniqueFd> begin_connect(const std::string& address, std::uint16_t port) {
    const AddressList list = parse_address(address, port, SOCK_STREAM);
    if (!list) return std::nullopt;
    UniqueFd connection(
        socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
    if (!connection) return std::nullopt;
    if (connect(connection.get(), list->ai_addr, list->ai_addrlen) != 0 && errno != EINPROGRESS)
        return std::nullopt;
    return connection;
}

int connect_problem(const UniqueFd& connection) {
    int problem = 0;
    socklen_t length = sizeof problem;
    if (getsockopt(connection.get(), SOL_SOCKET, SO_ERROR, &problem, &length) != 0) return errno;
    return problem;
}

void prepare_link(const UniqueFd& connection) {
    set_number(connection, IPPROTO_TCP, TCP_NODELAY, 1);
    set_number(connection, IPPROTO_TCP, TCP_USER_TIMEOUT, silence_max_ms);
    set_number(connection, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_number(connection, IPPROTO_TCP, TCP_KEEPIDLE, probe_after_s);
    set_number(connection, IPPROTO_TCP, TCP_KEEPINTVL, 1);
    set_number(connection, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::string peer_of(const UniqueFd& connection) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (getpeername(connection.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
        return {};
    return text_of(address, length);
}

std::string address_towards(const std::string& address) {
    constexpr std::uint16_t any_port = 9;
    const AddressList list = parse_address(address, any_port, SOCK_DGRAM);
    if (!list) return {};
    const UniqueFd probe(socket(list->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    if (!probe || connect(probe.get(), list->ai_addr, list->ai_addrlen) != 0 ||
        getsockname(probe.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0)
        return {};
    return text_of(own, length);
}

}    // namespace slipway
