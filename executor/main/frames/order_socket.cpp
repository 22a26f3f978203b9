#include "executor/main/frames/order_socket.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace slipway {

namespace {

/// The descriptor that came with a message; none when there is none.
UniqueFd descriptor_of(const msghdr& message) {
    const cmsghdr* const control = CMSG_FIRSTHDR(&message);
    if (control == nullptr || control->cmsg_level != SOL_SOCKET ||
        control->cmsg_type != SCM_RIGHTS || control->cmsg_len != CMSG_LEN(sizeof(int)))
        return {};
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(control), sizeof(int));
    return UniqueFd(descriptor);
}

std::optional<ReceivedOrder> receive(int socket) {
    std::array<char, worker_message_bytes_max> text{};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    iovec part{.iov_base = text.data(), .iov_len = text.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got <= 0) return std::nullopt;
    UniqueFd lock = descriptor_of(message);
    auto order = read_worker_order(std::string_view(text.data(), std::size_t(got)));
    if (!order || !lock) return std::nullopt;
    return ReceivedOrder{.order = *std::move(order), .lock = std::move(lock)};
}

}    // namespace

std::optional<ReceivedOrder> OrderSocket::next(const std::function<bool()>& stopping) {
    while (!stopping()) {
        pollfd waited{socket_.get(), POLLIN, 0};
        const int ready = poll(&waited, 1, -1);
        if (ready > 0) return receive(socket_.get());
        if (ready < 0 && errno != EINTR) return std::nullopt;
    }
    return std::nullopt;
}

bool OrderSocket::answer(const WorkerAnswer& answer) {
    const std::string text = to_message(answer);
    return send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) == ssize_t(text.size());
}

}    // namespace slipway
