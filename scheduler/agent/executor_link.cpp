#include "scheduler/agent/executor_link.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "api/protocol/agent_messages.h"

namespace slipway {

namespace {

// Of one executor at a time: others wait for their heartbeats and requests.
constexpr std::size_t read_bytes_max = 1 << 20;

constexpr std::string_view frame_opening = "{\"n\":";
constexpr std::string_view metric_type = "\"type\":\"metric\"";

}    // namespace

ExecutorLink::ExecutorLink(std::function<std::optional<UniqueFd>()> connect_executor,
                           std::string fence, std::int64_t after)
    : connect_executor_(std::move(connect_executor)), fence_(std::move(fence)), after_(after) {}

bool ExecutorLink::connect() {
    if (socket_) return true;
    auto connection = connect_executor_();
    if (!connection) return false;
    socket_ = std::move(*connection);
    to_send_ = hello_line(fence_, after_);
    to_send_ += save_line_ + stop_line_;
    at_line_start_ = true;
    write();
    return bool(socket_);
}

LinkEvents ExecutorLink::read() {
    LinkEvents events;
    // Not filled with zeros, which would cost more than reading a heartbeat.
    std::array<char, 65536> chunk;
    while (socket_ && events.bytes < read_bytes_max) {
        const ssize_t got = recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (got <= 0) {
            close();
            break;
        }
        events.heard = true;
        events.bytes += std::size_t(got);
        const std::string_view text(chunk.data(), std::size_t(got));
        // A frame whose first bytes are split over two reads is found by its middle: a hint may be
        // late by one heartbeat, never wrong.
        events.frames = events.frames || !at_line_start_ || text.starts_with(frame_opening) ||
                        text.find("\n{\"n\":") != std::string_view::npos;
        if (!measured_ && text.find(metric_type) != std::string_view::npos)
            measured_ = events.first_metric = true;
        at_line_start_ = text.ends_with('\n');
    }
    return events;
}

void ExecutorLink::write() {
    if (socket_ && !send_available(socket_, to_send_)) close();
}

void ExecutorLink::heartbeat() {
    if (!socket_ || !to_send_.empty()) return;
    to_send_ += heartbeat_line;
    write();
}

void ExecutorLink::stop(Intent intent) {
    stop_line_ = stop_line(intent);
    if (!socket_) return;
    to_send_ += stop_line_;
    write();
}

void ExecutorLink::save(std::int64_t number) {
    save_line_ = save_line(number);
    if (!socket_) return;
    to_send_ += save_line_;
    write();
}

void ExecutorLink::close() {
    socket_.reset();
    to_send_.clear();
}

}    // namespace slipway
