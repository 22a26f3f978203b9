#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "server/http/network.h"
#include "server/http/router.h"

namespace slipway {

class HttpMetrics;

/// Sizes above which a request is refused; the status is in the comment.
struct HttpLimits {
    std::size_t header_bytes = 16 * 1024;          ///< request line and headers together: 431
    std::size_t header_count = 64;                 ///< 431
    std::size_t target_bytes = 8 * 1024;           ///< 414
    std::size_t chunk_extra_bytes = 1024;          ///< chunk extensions and trailers together: 400
    std::size_t requests_per_connection = 1000;    ///< then "Connection: close"
    /// Above this and the next two, the connection of an unauthenticated client that has
    /// waited longest makes room (pending_connections.h); without one: 503 with Retry-After.
    std::size_t connections = 8192;
    /// Of one IPv4 address or IPv6 /64. Those of a trusted proxy are
    /// counted by the address it forwards, as requests under way.
    std::size_t connections_per_address = 100;
    std::size_t connections_of_loopback = 1024;    ///< this machine's programs have it in common
    /// Above a limit so many more are let in, for one request of a row of Lane::io each (health);
    /// the oldest makes room for the next.
    std::size_t reserved_connections = 16;
    /// Lines of the log about requests; above, they are counted, and the next line says how many.
    double log_lines_per_s = 100;
    double log_lines_burst = 1000;
    /// Bodies held in memory, of all requests together; above: 503 with Retry-After.
    std::size_t buffered_body_bytes = std::size_t{64} << 20;
    /// Answers of more than counted_answer_bytes held in memory, of all requests together; above:
    /// 503 with Retry-After.
    std::size_t buffered_answer_bytes = std::size_t{256} << 20;
};

/// Answers up to this size are bounded by the number of connections.
inline constexpr std::size_t counted_answer_bytes = 64 * 1024;

/// How long each part may take, in seconds.
struct HttpDeadlines {
    double tls_handshake_s = 5;
    double header_s = 10;    ///< from the first byte of a request to the end of its headers: 408
    double body_grace_s = 10;          ///< a body may lag its minimum rate by so much: 408
    double body_bytes_per_s = 1024;    ///< the minimum rate
    double permit_check_s = 1;         ///< how often a body under way is asked about
    /// Of a body that is held in memory: who holds a part of the budget must use it.
    double buffered_body_bytes_per_s = 16 * 1024;
    double write_stall_s = 30;             ///< one piece of an answer (64 KiB) not taken: closed
    double buffered_answer_stall_s = 8;    ///< the same, of an answer that the budget counts
    double keep_alive_s = 60;              ///< between requests: closed
    double heartbeat_s = 15;               ///< silence on an event stream before a comment is sent
    double reserved_s = 1;                 ///< for the request of a reserved connection: 503
    double linger_s = 2;    ///< reading on after a refusal, so that the client sees it
};

struct ServerOptions {
    std::vector<std::string> addresses = {"127.0.0.1"};    ///< "::" listens on IPv4 too
    std::uint16_t port = 8470;                             ///< 0: any free one, see Server::port
    std::string certificate_file = {};                     ///< PEM chain; TLS when not empty
    std::string private_key_file = {};
    std::vector<Network> trusted_proxies = {};     ///< whose X-Forwarded-* headers count
    std::vector<std::string> public_names = {};    ///< see is_our_host; empty: any
    std::size_t io_threads = 2;
    std::size_t worker_threads = 16;
    std::size_t reserved_threads = 2;      ///< for rows of Lane::reserved
    std::size_t worker_queue_max = 256;    ///< requests that wait for a thread; above: 503
    HttpLimits limits = {};
    HttpDeadlines deadlines = {};
};

/// The HTTP/1.1 server: accepts connections, guards their framing, runs handlers on a bounded pool
/// of workers and writes the answers. Connections are coroutines on the I/O threads. One log line
/// per request: method, path (never the query), status, duration, bytes, request_id.
class Server {
public:
    /// `metrics` and `clock` must outlive the server.
    Server(ServerOptions options, Router router, HttpMetrics& metrics,
           const Clock& clock = system_clock());
    /// Stops at once, without grace.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Binds, listens and starts the threads; returns when connections are accepted. Raises the
    /// process's limit of open files so that the connection limit can be reached.
    /// errors  unavailable when an address is in use or may not be bound; invalid_argument for a
    ///         bad address, certificate or key
    void start();

    /// The port listened on; after start().
    std::uint16_t port() const;

    /// Graceful: no new connections, idle ones are closed, event streams get their last chunk,
    /// requests in flight are answered with "Connection: close"; what is left after `grace` is cut.
    /// Returns when every thread of the server has ended. Safe from any thread but the server's
    /// own; a second call does nothing.
    void stop(std::chrono::milliseconds grace = std::chrono::seconds(10));

private:
    struct State;
    std::unique_ptr<State> state_;
};

}    // namespace slipway
