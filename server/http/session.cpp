// A connection is one coroutine: wait for a request, read its head, judge it, find the route, read
// the body, call the handler on a lane of worker threads, send the answer, begin again. Handlers
// block and know no sockets; everything here is asynchronous and runs on the connection's executor.
// What is cheap to judge is judged first: connection, head, host, route, media type, admission,
// body.
//
// What the functions keep: each request gets exactly one answer, a problem body where a handler
// throws. A request that can be read in two ways is rejected and ends the connection: what follows
// a rejected head is never taken for a request (head.h, second_reader.h). Until a body has been
// read to its end every answer is the connection's last. Reading has deadlines, and the memory of
// bodies and answers is taken from shared budgets before it is used and given back when the
// exchange ends.

#include "server/http/session.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/base/log.h"
#include "server/http/answer.h"
#include "server/http/call_handler.h"
#include "server/http/exchange.h"
#include "server/http/find_route.h"
#include "server/http/metrics.h"
#include "server/http/problem.h"
#include "server/http/read_body.h"
#include "server/http/read_request.h"
#include "server/http/send.h"

namespace slipway {

namespace {

/// For a connection above a limit that does not even ask. The same for all.
constexpr std::string_view too_many_connections =
    "HTTP/1.1 503 Service Unavailable\r\nServer: slipway\r\nContent-Length: 0\r\n"
    "Retry-After: 5\r\nConnection: close\r\n\r\n";

Response refusal_response(const Refusal& refusal, std::string_view request_id) {
    return problem_response(
        {.status = refusal.status, .code = std::string(refusal.code), .detail = refusal.detail},
        request_id);
}

void refuse(Connection& connection, Exchange& exchange, const Refusal& refusal) {
    connection.core.metrics.request_refused(refusal.code);
    exchange.response = refusal_response(refusal, exchange.request.request_id);
    exchange.close = true;
}

/// Gives the memory of a body or an answer back, and the allocator's when many were held: freed
/// blocks between those in use would stay with the process.
asio::awaitable<void> give_back(Connection& connection, std::string& bytes, ByteShare& share) {
    std::string().swap(bytes);
    const std::function<void()> trim = [] { malloc_trim(0); };
    if (share.release()) co_await on_disk(connection.core, trim);
}

/// A small body has come with its head. Nothing is saved by asking before it is read, and asking
/// would be another change of threads, of which a small request costs more than of anything else.
bool has_whole_body(const Connection& connection, const Exchange& exchange) {
    const RequestHead& head = exchange.head;
    return !head.chunked && !exchange.route->receive &&
           head.body_bytes <=
               std::min<std::uint64_t>(connection.buffer.size(), exchange.route->body_bytes_max);
}

/// Fills in the response of a request whose head is good.
asio::awaitable<void> make_response(Connection& connection, Exchange& exchange) {
    // Until the body has been read, every answer must be the connection's last.
    const bool close_after = exchange.close;
    exchange.close = exchange.close || exchange.head.has_body();
    if (auto early = find_route(connection.core, exchange)) {
        exchange.response = std::move(*early);
        co_return;
    }
    if (exchange.above_limit && exchange.route->lane != Lane::io) {
        exchange.response = overloaded_response("there are too many connections; try again soon", 5,
                                                exchange.request.request_id);
        co_return;
    }
    if (const auto problem = body_problem(exchange)) {
        exchange.response = problem_response(*problem, exchange.request.request_id);
        co_return;
    }
    // A body that is read before authentication could hold a place, so its connection stays
    // pending. Any other request is authenticated next, or ends at once.
    const bool sends_unasked =
        exchange.head.has_body() && !exchange.route->admit && !exchange.route->receive;
    if (!sends_unasked) connection.core.pending.leave(connection);
    if (exchange.head.has_body() && exchange.route->admit) {
        exchange.admits_late = has_whole_body(connection, exchange);
        if (!exchange.admits_late) {
            const bool admitted = co_await ask_admission(connection, exchange);
            if (!admitted) co_return;
        }
    }
    std::optional<BodyTarget> target;
    if (exchange.route->receive) {
        target = co_await ask_receiver(connection, exchange);
        if (!target) co_return;
    }
    const std::uint64_t bytes_max = target ? target->bytes_max : exchange.route->body_bytes_max;
    const BodyEnd end =
        co_await read_body(connection, exchange.head, exchange.request, exchange.body_share,
                           target ? &*target : nullptr, bytes_max);
    if (end.kind == BodyEnd::Kind::refused) refuse(connection, exchange, end.refusal);
    if (end.kind == BodyEnd::Kind::broken) exchange.broken = true;
    if (end.kind == BodyEnd::Kind::complete) {
        exchange.close = close_after;
        connection.core.pending.leave(connection);
        co_await call_handler(connection, exchange);
    }
    co_await give_back(connection, exchange.request.body, exchange.body_share);
}

/// The encoded head; a handler's header that would break the message becomes a 500.
std::string encode(Exchange& exchange, AnswerFacts& facts) {
    facts.close = exchange.close || exchange.response.events != nullptr;
    try {
        return encode_head(exchange.response, facts);
    } catch (const Error& error) {
        log_error("request failed",
                  {{"request_id", exchange.request.request_id}, {"error", error.what()}});
        if (exchange.response.events) exchange.response.events->close();
        exchange.response =
            problem_response({.status = 500, .code = "internal", .detail = "internal error"},
                             exchange.request.request_id);
        return encode_head(exchange.response, facts);
    }
}

void report(Connection& connection, const Exchange& exchange, const Sent& sent) {
    const Request& request = exchange.request;
    const std::string_view method =
        exchange.head.raw_target.empty() ? std::string_view("-") : to_string(request.method);
    const std::chrono::duration<double> taken = connection.core.clock.tick() - exchange.started;
    // A client that asked to wait was not kept waiting by us.
    const double worked_s = std::max(0.0, taken.count() - request.waited_s);
    connection.core.metrics.request_finished(
        {.method = method,
         .route = exchange.route != nullptr ? std::string_view(request.route) : "unmatched",
         .status = exchange.response.status,
         .seconds = worked_s});
    // A failure of ours is logged whatever a flood of requests does.
    const auto suppressed = connection.core.request_lines.admit(connection.core.clock.tick());
    if (!suppressed && exchange.response.status != 500) return;
    if (suppressed.value_or(0) > 0) log_warn("request lines suppressed", {{"lines", *suppressed}});
    const auto log_line = [&](const auto&... more) {
        log_info("request", {{"method", method},
                             {"path", request.path},
                             {"status", exchange.response.status},
                             {"duration_ms", fmt::format("{:.1f}", taken.count() * 1000)},
                             {"bytes", sent.bytes},
                             {"complete", sent.complete},
                             {"peer", request.peer},
                             {"request_id", request.request_id},
                             more...});
    };
    if (request.traceparent.empty()) return log_line();
    log_line(LogField{"traceparent", request.traceparent});
}

/// An answer for which there is no room becomes one that says so; not that of a request which has
/// changed something: its client must learn what.
void count_answer(Exchange& exchange) {
    const std::size_t bytes = exchange.response.body.size();
    if (bytes <= counted_answer_bytes || exchange.answer_share.grow(bytes)) return;
    if (exchange.request.method != Method::GET) return;
    exchange.response = overloaded_response(
        "too many large responses are being sent; try again soon, or ask for "
        "less at once (limit, resolution)",
        1, exchange.request.request_id);
}

/// What happens to the connection next.
enum class Next {
    request,    // it stays open
    part,       // it ends, and the client must see the last answer
    close       // it ends; there is nothing to wait for
};

asio::awaitable<Next> send_response(Connection& connection, Exchange& exchange) {
    settle(exchange.request, exchange.response);
    count_answer(exchange);
    exchange.close = exchange.close || connection.core.stopping;
    AnswerFacts facts{.now = connection.core.clock.now(),
                      .http_1_1 = exchange.head.http_1_1,
                      .head_only = exchange.request.method == Method::HEAD,
                      .request_id = exchange.request.request_id,
                      .traceparent = exchange.request.traceparent,
                      .secure = exchange.request.secure};
    const std::string head = encode(exchange, facts);
    const std::shared_ptr<EventSource> events = exchange.response.events;
    Sent sent;
    if (events && !facts.head_only) {
        connection.core.metrics.event_streams_changed(1);
        sent = co_await send_events(connection, head, *events, facts.http_1_1);
        connection.core.metrics.event_streams_changed(-1);
    } else {
        if (events) events->close();
        sent = co_await send_answer(connection, head, exchange.response, facts.head_only);
        co_await give_back(connection, exchange.response.body, exchange.answer_share);
    }
    report(connection, exchange, sent);
    // A body that ends early must not be followed by anything the client would take for its rest.
    if (!sent.complete) co_return Next::close;
    co_return facts.close ? Next::part : Next::request;
}

/// One request, if one comes, and its answer.
asio::awaitable<Next> serve_one(Connection& connection, bool first, bool last) {
    const bool coming = co_await wait_for_request(connection, first);
    if (!coming) {
        if (connection.reserved) co_await write_all(connection, too_many_connections);
        co_return Next::close;
    }
    Exchange exchange(connection.core);
    exchange.started = connection.core.clock.tick();
    exchange.request.peer = shown_address(connection.peer);
    exchange.request.secure = connection.wire->secure();
    exchange.request.path = "-";

    std::optional<Refusal> refusal;
    const std::optional<std::string> head = co_await read_head(connection, refusal);
    if (!head && !refusal) co_return Next::close;
    if (head) refusal = understand(*head, connection.core.options.limits, exchange);
    if (head && !refusal) refusal = locate(connection, exchange);
    exchange.request.request_id = choose_request_id(exchange.request, connection.core.clock);
    exchange.request.traceparent = continue_trace(exchange.request);
    if (refusal) {
        refuse(connection, exchange, *refusal);
    } else {
        exchange.close = last || exchange.above_limit || !exchange.head.keep_alive;
        co_await make_response(connection, exchange);
        if (exchange.broken) co_return Next::close;
    }
    connection.identified = connection.identified || exchange.response.identified;
    const Next next = co_await send_response(connection, exchange);
    if (next == Next::request && !connection.identified && !connection.reserved)
        connection.core.pending.enter(connection.shared_from_this());
    co_return next;
}

}    // namespace

asio::awaitable<void> serve(std::shared_ptr<Connection> connection) {
    const bool usable = co_await connection->wire->handshake();
    if (!usable) co_return;
    const std::size_t requests_max = connection->core.options.limits.requests_per_connection;
    Next next = Next::request;
    for (std::size_t number = 1; next == Next::request; ++number)
        next = co_await serve_one(*connection, number == 1, number >= requests_max);
    if (next == Next::part) co_await part(*connection);
    connection->wire->close();
}

}    // namespace slipway
