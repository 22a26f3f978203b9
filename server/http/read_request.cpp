#include "server/http/read_request.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "server/http/origin.h"
#include "server/http/second_reader.h"

namespace slipway {

namespace {

/// A connection of a trusted address is let in as a proxy's, which brings the requests of many.
/// Once that address asks for itself, its connection counts as any other: false when it has too
/// many.
bool has_room(Connection& connection, const Origin& origin) {
    const ServerOptions& options = connection.core.options;
    if (connection.reserved) return false;
    if (origin.forwarded || !is_trusted(connection.peer, options.trusted_proxies)) return true;
    return connection.direct.enter(counted_address(connection.peer),
                                   own_connections_max(connection.peer, options.limits));
}

}    // namespace

asio::awaitable<bool> wait_for_request(Connection& connection, bool first) {
    if (!connection.buffer.empty()) co_return true;
    if (connection.core.stopping) co_return false;
    if (connection.buffer.capacity() > 4096) connection.buffer.shrink_to_fit();
    const HttpDeadlines& deadlines = connection.core.options.deadlines;
    connection.wire->set_deadline(connection.reserved ? deadlines.reserved_s
                                  : first             ? deadlines.header_s
                                                      : deadlines.keep_alive_s);
    connection.idle = true;
    ErrorOfIo error;
    const bool more = co_await read_more(connection, 2048, error);
    connection.idle = false;
    co_return more;
}

asio::awaitable<std::optional<std::string>> read_head(Connection& connection,
                                                      std::optional<Refusal>& refusal) {
    const ServerOptions& options = connection.core.options;
    connection.wire->set_deadline(connection.reserved ? options.deadlines.reserved_s
                                                      : options.deadlines.header_s);
    HeadScanner scanner(options.limits);
    bool started = false;
    for (;;) {
        // One line break before a request line is left over from some clients' last body
        // (RFC 9112, 2.2).
        std::string& buffer = connection.buffer;
        const bool line_break = !started && buffer.starts_with("\r\n");
        if (line_break) buffer.erase(0, 2);
        started = started || line_break || (!buffer.empty() && buffer != "\r");
        const auto scanned = scanner.scan(started ? std::string_view(buffer) : "");
        if (const auto* refused = std::get_if<Refusal>(&scanned)) {
            refusal = *refused;
            co_return std::nullopt;
        }
        if (const auto size = std::get<std::optional<std::size_t>>(scanned)) {
            std::string head = buffer.substr(0, *size);
            buffer.erase(0, *size);
            co_return head;
        }
        ErrorOfIo error;
        const bool more = co_await read_more(connection, 4096, error);
        if (more) continue;
        if (timed_out(error))
            refusal = Refusal{408, "header_too_slow", "the request's headers took too long"};
        co_return std::nullopt;
    }
}

std::optional<Refusal> understand(std::string_view bytes, const HttpLimits& limits,
                                  Exchange& exchange) {
    std::variant<RequestHead, Refusal> parsed = parse_head(bytes, limits);
    if (const auto* refusal = std::get_if<Refusal>(&parsed)) return *refusal;
    RequestHead& head = std::get<RequestHead>(parsed);
    if (const auto difference = second_reader_disagrees(bytes, head, limits))
        return Refusal{400, "ambiguous_request",
                       "the request can be read in two ways: " + *difference};
    exchange.request.method = head.method;
    exchange.request.path = head.target.path;
    exchange.request.segments = head.target.segments;
    exchange.request.query_pairs = head.target.query_pairs;
    exchange.request.headers = head.headers;
    exchange.head = std::move(head);
    return std::nullopt;
}

std::optional<Refusal> locate(Connection& connection, Exchange& exchange) {
    const ServerOptions& options = connection.core.options;
    const auto found = origin_of(exchange.head, connection.peer, connection.wire->secure(),
                                 options.trusted_proxies);
    if (const auto* refusal = std::get_if<Refusal>(&found)) return *refusal;
    const Origin& origin = std::get<Origin>(found);
    exchange.request.peer = shown_address(origin.client);
    exchange.request.secure = origin.secure;
    exchange.request.host = origin.host;
    if (!is_our_host(origin.host, options.public_names))
        return Refusal{421, "misdirected_request",
                       fmt::format("this service does not answer for {}; start it with "
                                   "--public-name if it should",
                                   origin.host)};
    if (origin.forwarded && !exchange.client.enter(counted_address(origin.client),
                                                   options.limits.connections_per_address))
        return Refusal{503, "overloaded", "this address has too many requests in progress"};
    exchange.above_limit = !has_room(connection, origin);
    return std::nullopt;
}

}    // namespace slipway
