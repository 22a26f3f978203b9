#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/http/header.h"

namespace slipway {

/// How long a connection waits for the other side.
struct WaitLimits {
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    std::chrono::milliseconds silence_max{60'000};    ///< for each wait
};

/// A client's connection for one HTTP/1.1 request and its answer, over TCP or TLS. Blocking; one
/// thread at a time. In order: connect, start_tls for https, send, receive_head, receive_body.
/// errors  every call returns what went wrong; asio::error::timed_out after one of the limits
class HttpConnection {
public:
    using Failure = boost::system::error_code;
    using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

    explicit HttpConnection(WaitLimits limits);
    ~HttpConnection();

    /// The addresses of a name; no limit ends the system's search for them.
    static Endpoints resolve(const std::string& host, std::uint16_t port, Failure& failure);

    /// To the first of `endpoints` that accepts; each wait from here on has `limits`.
    Failure connect(const Endpoints& endpoints);
    void set_limits(WaitLimits limits);

    /// Checks the certificate against `host`. `context` outlives the connection.
    Failure start_tls(boost::asio::ssl::context& context, const std::string& host);

    /// `headers` has Host; Connection and, except for GET and HEAD, Content-Length are added.
    Failure send(std::string_view method, std::string_view target,
                 const std::vector<HttpHeader>& headers, std::string_view body);

    /// The status of the answer and its headers, of at most 16 KiB.
    Failure receive_head(int& status, std::vector<HttpHeader>& headers);

    /// The next bytes of the answer's body; size 0: it has ended.
    Failure receive_body(std::span<char> room, std::size_t& size);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}    // namespace slipway
