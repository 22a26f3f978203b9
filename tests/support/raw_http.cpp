#include "tests/support/raw_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace slipway {

std::string RawAnswer::header(std::string_view lower_name) const {
    for (const auto& [name, value] : headers)
        if (name == lower_name) return value;
    return {};
}

RawHttp::RawHttp(std::uint16_t port, std::chrono::milliseconds patience) : patience_(patience) {
    socket_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        socket_.reset();
}

bool RawHttp::send(std::string_view bytes) {
    while (!bytes.empty()) {
        pollfd waiting{socket_.get(), POLLOUT, 0};
        if (poll(&waiting, 1, static_cast<int>(patience_.count())) <= 0) return false;
        const ssize_t sent =
            ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

void RawHttp::end_sending() {
    shutdown(socket_.get(), SHUT_WR);
}

bool RawHttp::fill() {
    pollfd waiting{socket_.get(), POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(patience_.count())) <= 0) return false;
    char bytes[16384];
    const ssize_t received = recv(socket_.get(), bytes, sizeof bytes, 0);
    if (received <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(received));
    return true;
}

std::string RawHttp::take(std::size_t bytes) {
    while (buffer_.size() < bytes && fill()) {
    }
    std::string taken = buffer_.substr(0, bytes);
    buffer_.erase(0, taken.size());
    return taken;
}

bool RawHttp::read_until(std::string_view mark, std::string& text) {
    std::size_t found = 0;
    while ((found = buffer_.find(mark)) == std::string::npos)
        if (!fill()) return false;
    text = take(found + mark.size());
    return true;
}

bool RawHttp::read_chunks(std::string& body) {
    for (;;) {
        std::string line;
        if (!read_until("\r\n", line)) return false;
        const std::size_t bytes = std::strtoul(line.c_str(), nullptr, 16);
        body += take(bytes);
        if (take(2) != "\r\n") return false;
        if (bytes == 0) return true;
    }
}

RawAnswer RawHttp::read_answer(bool without_body) {
    RawAnswer answer;
    if (!read_until("\r\n\r\n", answer.head) || !answer.head.starts_with("HTTP/1.1 ")) return {};
    answer.status = std::atoi(answer.head.c_str() + 9);
    std::string_view lines = answer.head;
    lines.remove_prefix(lines.find("\r\n") + 2);
    while (lines != "\r\n") {
        std::string name(lines.substr(0, lines.find(':')));
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        const auto value = lines.find(": ") + 2, end = lines.find("\r\n");
        answer.headers.emplace_back(name, lines.substr(value, end - value));
        lines.remove_prefix(end + 2);
    }
    if (without_body || answer.status == 304 || answer.status / 100 == 1 || answer.status == 204)
        return answer;
    if (answer.header("transfer-encoding") == "chunked") {
        if (!read_chunks(answer.body)) answer.status = 0;
    } else if (const std::string length = answer.header("content-length"); !length.empty()) {
        const std::size_t bytes = std::strtoul(length.c_str(), nullptr, 10);
        answer.body = take(bytes);
        if (answer.body.size() < bytes) answer.status = 0;
    } else {
        while (fill()) {
        }
        answer.body = std::exchange(buffer_, {});
    }
    return answer;
}

std::vector<RawAnswer> RawHttp::read_all_answers() {
    std::vector<RawAnswer> answers;
    for (;;) {
        RawAnswer answer = read_answer();
        if (answer.status == 0) return answers;
        answers.push_back(std::move(answer));
    }
}

std::string RawHttp::read_some() {
    if (buffer_.empty()) fill();
    return std::exchange(buffer_, {});
}

bool RawHttp::is_closed_by_peer() {
    char bytes[4096];
    for (;;) {
        pollfd waiting{socket_.get(), POLLIN, 0};
        if (poll(&waiting, 1, static_cast<int>(patience_.count())) <= 0) return false;
        if (recv(socket_.get(), bytes, sizeof bytes, 0) <= 0) return true;
    }
}

void RawHttp::shrink_receive_buffer(int bytes) {
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

std::vector<int> raw_statuses(std::uint16_t port, std::string_view bytes) {
    RawHttp connection(port);
    connection.send(bytes);
    std::vector<int> statuses;
    for (const RawAnswer& answer : connection.read_all_answers())
        statuses.push_back(answer.status);
    return statuses;
}

}    // namespace slipway
