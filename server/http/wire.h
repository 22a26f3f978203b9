#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <string>

namespace slipway {

namespace asio = boost::asio;
using ErrorOfIo = boost::system::error_code;

/// Waits for an operation and gives its error as a value.
inline constexpr auto as_tuple_awaitable = asio::as_tuple(asio::use_awaitable);

/// One connection's bytes, plain or over TLS, with a deadline for whatever is waited for. All
/// functions run on the connection's strand; at most one read and one write at a time.
class Wire {
public:
    virtual ~Wire() = default;
    /// Does what must come before the first byte. False: the connection is of no use.
    virtual asio::awaitable<bool> handshake() = 0;
    /// At least one byte, or 0 and an error; `timed_out` tells a deadline from the other errors.
    virtual asio::awaitable<std::size_t> read_some(asio::mutable_buffer buffer,
                                                   ErrorOfIo& error) = 0;
    /// All of it; false when the connection broke or the deadline passed.
    virtual asio::awaitable<bool> write(asio::const_buffer bytes) = 0;
    /// Tells the other end that nothing follows; reading goes on.
    virtual asio::awaitable<void> end_sending() = 0;
    /// Of the next operations of a direction in which nothing is waited for.
    virtual void set_deadline(double seconds) = 0;
    virtual void set_no_deadline() = 0;
    /// Ends pending operations with an error.
    virtual void cancel() = 0;
    virtual void close() = 0;
    virtual bool secure() const = 0;
    /// Whether the other end sends nothing more. From any thread.
    virtual bool has_ended() const = 0;
    virtual asio::any_io_executor executor() = 0;
};

std::unique_ptr<Wire> plain_wire(asio::ip::tcp::socket socket);
/// `context` must outlive the wire.
std::unique_ptr<Wire> tls_wire(asio::ip::tcp::socket socket, asio::ssl::context& context,
                               double handshake_s);

bool timed_out(const ErrorOfIo& error);

/// TLS 1.2 and 1.3 with forward secrecy only.
/// errors  throws invalid_argument naming the file that cannot be used
asio::ssl::context tls_context(const std::string& certificate_file,
                               const std::string& private_key_file);

}    // namespace slipway
