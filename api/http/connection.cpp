// Blocking calls over sockets that do not block: each waits in poll() up to its limit, which the
// blocking calls of Asio cannot. Beast parses the answer and OpenSSL, through Asio, encrypts. The
// composed asynchronous operations of Beast, run to their end one by one, did the same with a
// hundred times the templates: 50 s of the compiler's time, a twentieth of the whole build.
#include "api/http/connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <cerrno>
#include <optional>

namespace slipway {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Failure = HttpConnection::Failure;
using Clock = std::chrono::steady_clock;

/// A socket whose every wait ends. A synchronous stream, as Asio and Beast define one.
class TimedSocket {
public:
    using executor_type = asio::ip::tcp::socket::executor_type;
    using lowest_layer_type = TimedSocket;

    TimedSocket(asio::io_context& io, WaitLimits limits) : limits_(limits), socket_(io) {}

    executor_type get_executor() { return socket_.get_executor(); }
    lowest_layer_type& lowest_layer() { return *this; }
    void set_limits(WaitLimits limits) { limits_ = limits; }

    Failure connect(const asio::ip::tcp::endpoint& endpoint) {
        Failure failure;
        socket_.close(failure);
        socket_.open(endpoint.protocol(), failure);
        if (!failure) socket_.non_blocking(true, failure);
        if (failure) return failure;
        if (::connect(socket_.native_handle(), endpoint.data(), socklen_t(endpoint.size())) == 0)
            return {};
        if (errno != EINPROGRESS) return {errno, asio::error::get_system_category()};
        if (!wait(POLLOUT, failure)) return failure;
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(socket_.native_handle(), SOL_SOCKET, SO_ERROR, &error, &size);
        return {error, asio::error::get_system_category()};
    }

    template <class Buffers>
    std::size_t read_some(const Buffers& buffers, Failure& failure) {
        return retry(POLLIN, failure, [&] { return socket_.read_some(buffers, failure); });
    }
    template <class Buffers>
    std::size_t write_some(const Buffers& buffers, Failure& failure) {
        return retry(POLLOUT, failure, [&] { return socket_.write_some(buffers, failure); });
    }
    // A synchronous stream has these too; they are never called.
    template <class Buffers>
    std::size_t read_some(const Buffers&);
    template <class Buffers>
    std::size_t write_some(const Buffers&);

private:
    template <class Operation>
    std::size_t retry(short event, Failure& failure, Operation operation) {
        for (;;) {
            // A peer that always has bytes ready is never waited for.
            if (Clock::now() >= limits_.deadline) {
                failure = asio::error::timed_out;
                return 0;
            }
            const std::size_t size = operation();
            if (failure != asio::error::would_block) return size;
            if (!wait(event, failure)) return 0;
        }
    }

    /// False with `failure` set: the event did not come within the limits.
    bool wait(short event, Failure& failure) {
        const auto now = Clock::now();
        const auto until = limits_.deadline - now < limits_.silence_max ? limits_.deadline
                                                                        : now + limits_.silence_max;
        pollfd polled{socket_.native_handle(), event, 0};
        for (;;) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
            if (left.count() <= 0) break;
            const int ready = ::poll(&polled, 1, int(left.count()));
            if (ready > 0) return true;
            if (ready == 0 || errno == EINTR) continue;
            failure = {errno, asio::error::get_system_category()};
            return false;
        }
        failure = asio::error::timed_out;
        return false;
    }

    WaitLimits limits_;
    asio::ip::tcp::socket socket_;
};

}    // namespace

struct HttpConnection::State {
    explicit State(WaitLimits limits) : socket(io, limits) {}

    asio::io_context io{1};
    TimedSocket socket;
    std::optional<asio::ssl::stream<TimedSocket&>> tls;
    beast::flat_buffer received{64 * 1024};
    beast::http::response_parser<beast::http::buffer_body> parser;

    template <class Buffers>
    std::size_t read_some(const Buffers& buffers, Failure& failure) {
        return tls ? tls->read_some(buffers, failure) : socket.read_some(buffers, failure);
    }
    template <class Buffers>
    std::size_t read_some(const Buffers&);

    Failure write_all(std::string_view bytes) {
        Failure failure;
        while (!bytes.empty() && !failure) {
            const asio::const_buffer buffer(bytes.data(), bytes.size());
            bytes.remove_prefix(tls ? tls->write_some(buffer, failure)
                                    : socket.write_some(buffer, failure));
        }
        return failure;
    }
};

HttpConnection::HttpConnection(WaitLimits limits) : state_(std::make_unique<State>(limits)) {}

HttpConnection::~HttpConnection() = default;

HttpConnection::Endpoints HttpConnection::resolve(const std::string& host, std::uint16_t port,
                                                  Failure& failure) {
    asio::io_context io(1);
    asio::ip::tcp::resolver resolver(io);
    Endpoints endpoints;
    for (const auto& found : resolver.resolve(host, std::to_string(port), failure))
        endpoints.push_back(found.endpoint());
    return endpoints;
}

Failure HttpConnection::connect(const Endpoints& endpoints) {
    Failure failure = asio::error::not_found;
    for (const asio::ip::tcp::endpoint& endpoint : endpoints) {
        failure = state_->socket.connect(endpoint);
        if (!failure) break;
    }
    return failure;
}

void HttpConnection::set_limits(WaitLimits limits) {
    state_->socket.set_limits(limits);
}

Failure HttpConnection::start_tls(asio::ssl::context& context, const std::string& host) {
    auto& tls = state_->tls.emplace(state_->socket, context);
    if (SSL_set_tlsext_host_name(tls.native_handle(), host.c_str()) != 1)
        return asio::error::invalid_argument;
    tls.set_verify_callback(asio::ssl::host_name_verification(host));
    Failure failure;
    tls.handshake(asio::ssl::stream_base::client, failure);
    return failure;
}

Failure HttpConnection::send(std::string_view method, std::string_view target,
                             const std::vector<HttpHeader>& headers, std::string_view body) {
    state_->parser.body_limit(boost::none);
    state_->parser.header_limit(16 * 1024);
    state_->parser.skip(method == "HEAD");
    std::string first = fmt::format("{} {} HTTP/1.1\r\nConnection: close\r\n", method, target);
    for (const HttpHeader& header : headers)
        first += fmt::format("{}: {}\r\n", header.name, header.value);
    if (method != "GET" && method != "HEAD")
        first += fmt::format("Content-Length: {}\r\n", body.size());
    first += "\r\n";
    // A small body in the packet of the head: the other side answers without a second one.
    const std::size_t beside = std::min<std::size_t>(body.size(), 16 * 1024);
    first += body.substr(0, beside);
    const Failure failure = state_->write_all(first);
    return failure ? failure : state_->write_all(body.substr(beside));
}

Failure HttpConnection::receive_head(int& status, std::vector<HttpHeader>& headers) {
    Failure failure;
    beast::http::read_header(*state_, state_->received, state_->parser, failure);
    if (failure) return failure;
    status = int(state_->parser.get().result_int());
    for (const auto& field : state_->parser.get())
        headers.push_back({std::string(field.name_string()), std::string(field.value())});
    return {};
}

Failure HttpConnection::receive_body(std::span<char> room, std::size_t& size) {
    Failure failure;
    size = 0;
    while (!failure && size == 0 && !state_->parser.is_done()) {
        auto& body = state_->parser.get().body();
        body.data = room.data();
        body.size = room.size();
        beast::http::read_some(*state_, state_->received, state_->parser, failure);
        if (failure == beast::http::error::need_buffer) failure = {};
        size = room.size() - body.size;
    }
    return failure;
}

}    // namespace slipway
