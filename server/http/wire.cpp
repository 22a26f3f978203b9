#include "server/http/wire.h"

#include <poll.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <optional>

#include "api/base/error.h"

// One interface over a socket and TLS. A deadline cancels what the socket waits for and leaves it
// open, so that a client that is too slow can still be told so; Beast's own stream would close it.
// A cancelled timer may still fire, so each alarm has a generation.
namespace slipway {

using asio::ip::tcp;

namespace {

/// Cancels what a socket waits for when its time is up. (Beast's tcp_stream would close the socket
/// instead, and a client that was too slow could not be told so.) Shared with the timer's handler,
/// which may run when the operation is over: then `generation` has moved on and the socket is left
/// alone.
struct Alarm : std::enable_shared_from_this<Alarm> {
    explicit Alarm(tcp::socket& socket_) : socket(socket_), timer(socket_.get_executor()) {}

    void arm(asio::steady_timer::time_point end) {
        timer.expires_at(end);
        timer.async_wait([self = shared_from_this(), armed = ++generation](const ErrorOfIo& error) {
            if (error || self->generation != armed) return;
            self->rang = true;
            ErrorOfIo ignored;    // nothing is left to cancel
            self->socket.cancel(ignored);
        });
    }
    /// True when it rang since it was armed.
    bool disarm() {
        ++generation;
        timer.cancel();
        return std::exchange(rang, false);
    }

    tcp::socket& socket;
    asio::steady_timer timer;
    std::uint64_t generation = 0;
    bool rang = false;
};

tcp::socket& socket_of(tcp::socket& stream) {
    return stream;
}
tcp::socket& socket_of(asio::ssl::stream<tcp::socket>& stream) {
    return stream.next_layer();
}

/// What both kinds share. `Stream` is a socket, or TLS over one.
template <class Stream>
class WireOver : public Wire {
public:
    template <class... Arguments>
    explicit WireOver(Arguments&&... arguments)
        : stream_(std::forward<Arguments>(arguments)...),
          descriptor_(socket_of(stream_).native_handle()),
          alarm_(std::make_shared<Alarm>(socket_of(stream_))) {
        ErrorOfIo ignored;    // delay costs speed, not correctness
        socket_of(stream_).set_option(tcp::no_delay(true), ignored);
    }

    asio::awaitable<std::size_t> read_some(asio::mutable_buffer buffer, ErrorOfIo& error) override {
        const bool bounded = arm();
        auto [failure, bytes] = co_await stream_.async_read_some(buffer, as_tuple_awaitable);
        error = failure;
        if (bounded && alarm_->disarm() && bytes == 0) error = asio::error::timed_out;
        co_return bytes;
    }
    asio::awaitable<bool> write(asio::const_buffer bytes) override {
        const bool bounded = arm();
        auto [failure, written] = co_await asio::async_write(stream_, bytes, as_tuple_awaitable);
        if (bounded) alarm_->disarm();
        co_return !failure && written == bytes.size();
    }
    void set_deadline(double seconds) override {
        deadline_ =
            std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                   std::chrono::duration<double>(seconds));
    }
    void set_no_deadline() override { deadline_.reset(); }
    void cancel() override {
        ErrorOfIo ignored;    // nothing is left to cancel
        socket_of(stream_).cancel(ignored);
    }
    void close() override {
        ErrorOfIo ignored;    // it is not used again
        socket_of(stream_).close(ignored);
    }
    bool has_ended() const override {
        pollfd end{.fd = descriptor_, .events = POLLRDHUP, .revents = 0};
        return poll(&end, 1, 0) > 0;
    }
    asio::any_io_executor executor() override { return socket_of(stream_).get_executor(); }

protected:
    /// False: what comes next has no deadline.
    bool arm() {
        if (deadline_) alarm_->arm(*deadline_);
        return deadline_.has_value();
    }

    Stream stream_;
    const int descriptor_;                  // of the socket, for other threads than its strand
    const std::shared_ptr<Alarm> alarm_;    // shared: see Alarm
    std::optional<asio::steady_timer::time_point> deadline_;
};

class PlainWire final : public WireOver<tcp::socket> {
public:
    using WireOver::WireOver;
    asio::awaitable<bool> handshake() override { co_return true; }
    asio::awaitable<void> end_sending() override {
        ErrorOfIo ignored;    // it may be gone already
        stream_.shutdown(tcp::socket::shutdown_send, ignored);
        co_return;
    }
    bool secure() const override { return false; }
};

class TlsWire final : public WireOver<asio::ssl::stream<tcp::socket>> {
public:
    TlsWire(tcp::socket socket, asio::ssl::context& context, double handshake_s)
        : WireOver(std::move(socket), context), handshake_s_(handshake_s) {}

    asio::awaitable<bool> handshake() override {
        set_deadline(handshake_s_);
        arm();
        auto [failure] =
            co_await stream_.async_handshake(asio::ssl::stream_base::server, as_tuple_awaitable);
        alarm_->disarm();
        co_return !failure;
    }
    asio::awaitable<void> end_sending() override {
        const bool bounded = arm();
        co_await stream_.async_shutdown(as_tuple_awaitable);
        if (bounded) alarm_->disarm();
        ErrorOfIo ignored;    // it may be gone already
        stream_.next_layer().shutdown(tcp::socket::shutdown_send, ignored);
    }
    bool secure() const override { return true; }

private:
    const double handshake_s_;
};

}    // namespace

std::unique_ptr<Wire> plain_wire(tcp::socket socket) {
    return std::make_unique<PlainWire>(std::move(socket));
}

std::unique_ptr<Wire> tls_wire(tcp::socket socket, asio::ssl::context& context,
                               double handshake_s) {
    return std::make_unique<TlsWire>(std::move(socket), context, handshake_s);
}

bool timed_out(const ErrorOfIo& error) {
    return error == asio::error::timed_out;
}

asio::ssl::context tls_context(const std::string& certificate_file,
                               const std::string& private_key_file) {
    asio::ssl::context context(asio::ssl::context::tls_server);
    SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
    SSL_CTX_set_options(context.native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_cipher_list(context.native_handle(), "ECDHE+AESGCM:ECDHE+CHACHA20");
    ErrorOfIo error;
    context.use_certificate_chain_file(certificate_file, error);
    if (error)
        throw Error(ErrorCode::invalid_argument, "the TLS certificate " + certificate_file +
                                                     " cannot be used: " + error.message());
    context.use_private_key_file(private_key_file, asio::ssl::context::pem, error);
    if (error)
        throw Error(ErrorCode::invalid_argument, "the TLS private key " + private_key_file +
                                                     " cannot be used: " + error.message());
    return context;
}

}    // namespace slipway
