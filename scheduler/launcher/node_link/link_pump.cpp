#include "scheduler/launcher/node_link/link_pump.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace slipway {

namespace {

constexpr std::size_t carried_max = 64 << 10;    // in each direction
constexpr std::size_t local_piece = 16384;

/// False: nothing comes from now on.
bool receive_local(const UniqueFd& local, std::string& text) {
    std::array<char, local_piece> piece{};
    while (text.size() < carried_max) {
        const ssize_t got = recv(local.get(), piece.data(), piece.size(), MSG_DONTWAIT);
        if (got > 0) {
            text.append(piece.data(), std::size_t(got));
            continue;
        }
        if (got < 0 && errno == EINTR) continue;
        return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
    return true;
}

}    // namespace

LinkPump::LinkPump(SecretChannel channel, UniqueFd local,
                   std::function<void(std::string_view)> before_send)
    : channel_(std::move(channel)),
      local_(std::move(local)),
      before_send_(std::move(before_send)) {}

void LinkPump::add_polled(std::vector<pollfd>& polled) const {
    const bool takes_in = incoming_.size() < carried_max;
    const bool takes_out = outgoing_.size() < carried_max && !local_ended_;
    // Without a wish a descriptor that has hung up would wake us for ever.
    const auto entry = [](int file, bool reads, bool writes) {
        const auto events = short((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
        return pollfd{events == 0 ? -1 : file, events, 0};
    };
    polled.push_back(entry(channel_.fd(), takes_in, !outgoing_.empty()));
    polled.push_back(entry(local_.get(), takes_out, !incoming_.empty() && !local_ended_));
}

bool LinkPump::work() {
    const bool goes_in = carry_in();
    return carry_out() && goes_in;
}

/// To the local end. More than once: what OpenSSL has read already makes no descriptor readable.
bool LinkPump::carry_in() {
    while (true) {
        const std::size_t room = carried_max - std::min(carried_max, incoming_.size());
        const LinkStep step = channel_.read(incoming_, room);
        if (!send_available(local_, incoming_)) return false;
        if (step == LinkStep::ended) return false;
        if (step != LinkStep::done || incoming_.size() >= carried_max) return true;
    }
}

bool LinkPump::carry_out() {
    const std::size_t before = outgoing_.size();
    if (!local_ended_) local_ended_ = !receive_local(local_, outgoing_);
    if (before_send_ && outgoing_.size() > before)
        before_send_(std::string_view(outgoing_).substr(before));
    if (channel_.write(outgoing_) == LinkStep::ended) return false;
    return !local_ended_ || !outgoing_.empty();
}

}    // namespace slipway
