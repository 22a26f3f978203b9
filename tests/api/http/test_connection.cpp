// Goal: a connection gives the answer as it was sent, and ends in time whatever the peer does.
#include "api/http/connection.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <functional>
#include <thread>

#include "api/base/posix.h"

namespace slipway {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// A peer that takes one connection and does with it what `act` says.
class Peer {
public:
    explicit Peer(std::function<void(int)> act) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        EXPECT_EQ(::bind(listener_.get(), any, size), 0);
        EXPECT_EQ(::listen(listener_.get(), 1), 0);
        ::getsockname(listener_.get(), any, &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::jthread([this, act = std::move(act)] {
            const UniqueFd socket(::accept(listener_.get(), nullptr, nullptr));
            if (socket) act(socket.get());
        });
    }
    ~Peer() { ::shutdown(listener_.get(), SHUT_RDWR); }

    HttpConnection::Endpoints endpoints() const {
        return {{boost::asio::ip::make_address("127.0.0.1"), port_}};
    }

private:
    UniqueFd listener_;
    std::uint16_t port_ = 0;
    std::jthread thread_;
};

void say(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return;
        bytes.remove_prefix(std::size_t(sent));
    }
}

/// What the other side sends until the end of its head.
std::string hear_head(int socket) {
    std::string heard;
    std::array<char, 1024> bytes;
    while (heard.find("\r\n\r\n") == std::string::npos) {
        const auto size = ::recv(socket, bytes.data(), bytes.size(), 0);
        if (size <= 0) break;
        heard.append(bytes.data(), std::size_t(size));
    }
    return heard;
}

/// Waits until the other side closes.
void hear_end(int socket) {
    std::array<char, 65536> bytes;
    while (::recv(socket, bytes.data(), bytes.size(), 0) > 0) {
    }
}

struct Heard {
    HttpConnection::Failure failure = {};
    int status = 0;
    std::vector<HttpHeader> headers = {};
    std::string body = {};
    milliseconds taken{};
};

Heard exchange(std::function<void(int)> act, WaitLimits limits = {},
               std::string_view method = "GET", std::string_view body = {}) {
    const Peer peer(std::move(act));
    const auto began = Clock::now();
    HttpConnection connection(limits);
    Heard heard;
    heard.failure = connection.connect(peer.endpoints());
    if (!heard.failure) (void)connection.send(method, "/x", {{"Host", "a"}}, body);
    if (!heard.failure) heard.failure = connection.receive_head(heard.status, heard.headers);
    std::array<char, 1000> piece;
    for (std::size_t size = 1; !heard.failure && size > 0;) {
        heard.failure = connection.receive_body(piece, size);
        heard.body.append(piece.data(), size);
    }
    heard.taken = std::chrono::duration_cast<milliseconds>(Clock::now() - began);
    return heard;
}

TEST(HttpConnection, the_request_has_its_headers_and_its_length) {
    std::string asked;
    exchange(
        [&](int socket) {
            asked = hear_head(socket);
            say(socket, "HTTP/1.1 204 No Content\r\n\r\n");
        },
        {}, "POST", "{}");
    EXPECT_EQ(asked,
              "POST /x HTTP/1.1\r\nConnection: close\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}");
}

TEST(HttpConnection, an_answer_is_read_however_it_is_sent) {
    const std::string large(300'000, 'x');
    struct Case {
        std::vector<std::string> pieces;
        std::string body;
    };
    for (const Case& one :
         {Case{{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more"}, "hello"},
          Case{{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
                "2\r\nde\r\n0\r\n\r\n"},
               "abcde"},
          Case{{"HTTP/1.1 200 OK\r\n\r\nuntil ", "the end"}, "until the end"},
          Case{{"HTTP/1.1 200", " OK\r\nContent-Le", "ngth: 300000\r\n\r\n", large}, large},
          Case{{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}, ""}}) {
        const Heard heard = exchange([&](int socket) {
            hear_head(socket);
            for (const std::string& piece : one.pieces)
                say(socket, piece);
        });
        EXPECT_FALSE(heard.failure) << heard.failure.message();
        EXPECT_EQ(heard.status, 200);
        EXPECT_EQ(heard.body, one.body);
    }
}

TEST(HttpConnection, the_answer_to_head_has_no_body) {
    const Heard heard = exchange(
        [](int socket) {
            hear_head(socket);
            say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\n");
            hear_end(socket);
        },
        {}, "HEAD");
    EXPECT_FALSE(heard.failure) << heard.failure.message();
    ASSERT_EQ(heard.headers.size(), 2U);
    EXPECT_EQ(heard.headers[1].value, "\"a\"");
}

TEST(HttpConnection, an_answer_that_breaks_off_or_is_none_is_a_failure) {
    for (const std::string answer :
         {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
          "SSH-2.0-server\r\n\r\n"}) {
        const Heard heard = exchange([&](int socket) {
            hear_head(socket);
            say(socket, answer);
        });
        EXPECT_TRUE(heard.failure) << answer;
    }
    const Heard long_head = exchange([](int socket) {
        hear_head(socket);
        say(socket, "HTTP/1.1 200 OK\r\nA: " + std::string(20'000, 'x') + "\r\n\r\n");
        hear_end(socket);
    });
    EXPECT_TRUE(long_head.failure);
}

TEST(HttpConnection, silence_ends_it) {
    const Heard heard = exchange(hear_end, {.silence_max = milliseconds(100)});
    EXPECT_EQ(heard.failure, boost::asio::error::timed_out);
    EXPECT_GE(heard.taken, milliseconds(100));
}

TEST(HttpConnection, a_peer_that_goes_on_slowly_is_waited_for_until_the_deadline) {
    const auto drip = [](int socket) {
        hear_head(socket);
        say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
        for (int i = 0; i < 100; ++i) {
            if (::send(socket, "x", 1, MSG_NOSIGNAL) <= 0) return;
            timespec pause{0, 20'000'000};
            ::nanosleep(&pause, nullptr);
        }
    };
    const Heard whole = exchange(drip, {.silence_max = milliseconds(1'500)});
    EXPECT_EQ(whole.body.size(), 100U) << whole.failure.message();
    const Heard cut = exchange(drip, {.deadline = Clock::now() + milliseconds(300)});
    EXPECT_EQ(cut.failure, boost::asio::error::timed_out);
}

TEST(HttpConnection, a_peer_that_does_not_read_stops_no_thread) {
    const std::string body(64 << 20, 'x');
    const Heard heard = exchange(
        [](int socket) {
            timespec pause{1, 0};
            ::nanosleep(&pause, nullptr);
            (void)socket;
        },
        {.silence_max = milliseconds(200)}, "POST", body);
    EXPECT_TRUE(heard.failure);
}

TEST(HttpConnection, a_refusal_before_the_body_was_read_is_the_answer) {
    const std::string body(1 << 20, 'x');
    const Heard heard = exchange(
        [](int socket) {
            hear_head(socket);
            say(socket, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
            ::shutdown(socket, SHUT_WR);
            hear_end(socket);
        },
        {}, "PUT", body);
    EXPECT_EQ(heard.status, 413) << heard.failure.message();
    EXPECT_EQ(heard.body, "big");
}

TEST(HttpConnection, the_next_address_is_tried) {
    const Peer peer([](int socket) { hear_end(socket); });
    HttpConnection::Endpoints endpoints = peer.endpoints();
    endpoints.insert(endpoints.begin(), {boost::asio::ip::make_address("127.0.0.1"), 1});
    HttpConnection connection({});
    EXPECT_FALSE(connection.connect(endpoints));
    EXPECT_TRUE(HttpConnection({}).connect({}));
}

}    // namespace
}    // namespace slipway
