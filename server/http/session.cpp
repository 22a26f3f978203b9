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
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <utility>

#include "api/base/log.h"
#include "server/http/answer.h"
#include "server/http/content_encoding.h"
#include "server/http/head.h"
#include "server/http/metrics.h"
#include "server/http/origin.h"
#include "server/http/problem.h"
#include "server/http/read_body.h"
#include "server/http/second_reader.h"
#include "server/http/send.h"
#include "server/http/text.h"

namespace slipway {

namespace {

/// For a connection above a limit that does not even ask. The same for all.
constexpr std::string_view too_many_connections =
    "HTTP/1.1 503 Service Unavailable\r\nServer: slipway\r\nContent-Length: 0\r\n"
    "Retry-After: 5\r\nConnection: close\r\n\r\n";

/// One request and its answer.
struct Exchange {
    explicit Exchange(ServerCore& core)
        : body_share(core.body_budget),
          answer_share(core.answer_budget),
          client(core.forwarded_clients) {}

    RequestHead head;
    Request request;
    ByteShare body_share;
    ByteShare answer_share;
    ClientTicket client;
    const Route* route = nullptr;
    Response response;
    Tick started;
    bool close = false;
    bool above_limit = false;    // of connections: only what must always be answered is
    bool broken = false;         // the client has gone: there is nobody to answer
    bool admits_late = false;    // with the handler: the body was there already
};

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

/// Waits for the next request's first byte. False: the connection ends here, quietly.
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

/// Reads until the head is complete and takes it out of the buffer; or says why it is refused; or
/// neither: the client has gone.
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

/// Fills in where the request comes from, and judges that.
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

std::string allow_list(const std::vector<Method>& methods) {
    std::string list;
    for (const Method method : methods)
        list += (list.empty() ? "" : ", ") + std::string(to_string(method));
    return list;
}

/// 404, 405, or the answer to OPTIONS; none when there is a route.
std::optional<Response> find_route(const ServerCore& core, Exchange& exchange) {
    Request& request = exchange.request;
    if (request.path == "*")
        return Response{.status = 204}.with("Allow", allow_list(all_methods()));
    RouteMatch match = core.router.match(request.method, request.segments);
    if (match.route != nullptr) {
        exchange.route = match.route;
        request.route = match.route->pattern;
        request.parameters = std::move(match.parameters);
        return std::nullopt;
    }
    if (match.allowed.empty())
        return problem_response({.status = 404,
                                 .code = "no_such_path",
                                 .detail = "there is nothing at " + request.path},
                                request.request_id);
    const std::string allow = allow_list(match.allowed);
    if (request.method == Method::OPTIONS) return Response{.status = 204}.with("Allow", allow);
    return problem_response({.status = 405,
                             .code = "method_not_allowed",
                             .detail = fmt::format("{} takes {}", request.path, allow),
                             .headers = {{"Allow", allow}}},
                            request.request_id);
}

/// True for "application/json" and "application/json; charset=utf-8".
bool is_media_type(std::string_view header, std::string_view wanted) {
    const auto semicolon = std::min(header.find(';'), header.size());
    if (!equal_ignoring_case(trimmed(header.substr(0, semicolon)), wanted)) return false;
    const std::string parameters = lower_case(header.substr(semicolon));
    const auto charset = parameters.find("charset=");
    if (charset == std::string::npos) return true;
    const std::string_view value = trimmed(std::string_view(parameters).substr(charset + 8));
    return value.starts_with("utf-8") || value.starts_with("\"utf-8\"");
}

/// What can be said against a body before a byte of it is read.
std::optional<ProblemError::Fields> body_problem(const Exchange& exchange) {
    const Route& route = *exchange.route;
    const Request& request = exchange.request;
    if (!exchange.head.has_body()) return std::nullopt;
    if (route.body_bytes_max == 0 && !route.receive)
        return ProblemError::Fields{
            .status = 400, .code = "body_not_allowed", .detail = "this request takes no body"};
    const auto encoding = request.header("content-encoding");
    if (encoding && !equal_ignoring_case(*encoding, "identity"))
        return ProblemError::Fields{.status = 415,
                                    .code = "unsupported_content_encoding",
                                    .detail = "send the body without Content-Encoding"};
    const std::string_view type = request.header("content-type").value_or("");
    const auto& allowed = route.media_types;
    if (allowed.empty() || std::any_of(allowed.begin(), allowed.end(), [&](const auto& wanted) {
            return is_media_type(type, wanted);
        }))
        return std::nullopt;
    return ProblemError::Fields{
        .status = 415,
        .code = "unsupported_media_type",
        .detail = fmt::format("Content-Type must be {}", fmt::join(allowed, " or ")),
        .headers = {{"Accept", fmt::format("{}", fmt::join(allowed, ", "))}}};
}

Response busy_response(const Request& request) {
    return problem_response({.status = 503,
                             .code = "overloaded",
                             .detail = "too many requests wait for a worker; try again soon",
                             .headers = {{"Retry-After", "1"}}},
                            request.request_id);
}

/// For a connection above a limit whose request is not one that must always be answered.
Response no_room_response(const Request& request) {
    return problem_response({.status = 503,
                             .code = "overloaded",
                             .detail = "there are too many connections; try again soon",
                             .headers = {{"Retry-After", "5"}}},
                            request.request_id);
}

/// Asks whether the body may come: the response that says why not.
std::optional<Response> refused_admission(Exchange& exchange) {
    return refusal_of([&] { exchange.request.admission = exchange.route->admit(exchange.request); },
                      exchange.request);
}

/// On a lane.
void admit_and_answer(Exchange& exchange) {
    if (std::exchange(exchange.admits_late, false)) {
        if (auto refused = refused_admission(exchange)) {
            exchange.response = std::move(*refused);
            return;
        }
    }
    const Handler encoding = [&exchange](const Request& request) {
        Response response = exchange.route->handler(request);
        encode_content(request, response);
        return response;
    };
    exchange.response = answer(encoding, exchange.request);
}

/// On a lane, once the gathering has run.
void answer_rest(Exchange& exchange) {
    if (!exchange.response.rest) return;
    const Handler encoding = [rest = std::move(exchange.response.rest)](const Request& request) {
        Response response = rest();
        encode_content(request, response);
        return response;
    };
    exchange.response = answer(encoding, exchange.request);
}

/// Small: what is decoded of one body holds up those that wait behind it.
constexpr std::size_t gathered_body_bytes_max = std::size_t{16} << 10;

bool is_gathered(const Exchange& exchange) {
    const Route& route = *exchange.route;
    return route.gather && route.lane == Lane::worker &&
           exchange.request.body.size() <= gathered_body_bytes_max &&
           (!route.may_gather || route.may_gather(exchange.request));
}

/// Calls the handler with those of other requests. False: too many wait.
asio::awaitable<bool> call_gathered(Connection& connection, Exchange& exchange) {
    const std::function<void(Gathering&)> handle = [&exchange](Gathering& gathering) {
        exchange.request.gathering = &gathering;
        admit_and_answer(exchange);
        exchange.request.gathering = nullptr;
    };
    const std::function<void()> answer = [&exchange] { answer_rest(exchange); };
    GatheringLane& lane = connection.core.gathering.at(exchange.route);
    const bool ran = co_await on_gathering_lane(connection.core, lane, handle, answer);
    if (!ran) exchange.response = busy_response(exchange.request);
    co_return ran;
}

/// Calls the handler on its lane, again as long as it asks for that.
asio::awaitable<void> call_handler(Connection& connection, Exchange& exchange) {
    asio::steady_timer timer(connection.wire->executor());
    const Tick first_call = connection.core.clock.tick();
    exchange.request.asked_at = system_clock().tick();
    if (is_gathered(exchange)) {
        const bool ran = co_await call_gathered(connection, exchange);
        if (!ran || !exchange.response.alone) co_return;
    }
    for (;;) {
        const std::function<void()> work = [&] { admit_and_answer(exchange); };
        const bool ran = co_await on_lane(connection.core, exchange.route->lane, work);
        if (!ran) {
            exchange.response = busy_response(exchange.request);
            co_return;
        }
        if (!exchange.response.again_after_s) co_return;
        // While the server stops, a client that waits is answered at once: as if its time were up.
        if (connection.core.stopping) {
            const bool told = std::exchange(exchange.request.waited_s, 1e9) >= 1e9;
            if (!told) continue;
            exchange.response = busy_response(exchange.request);
            co_return;
        }
        timer.expires_after(
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(
                std::clamp(*exchange.response.again_after_s, 0.01, 60.0))));
        connection.on_stop = [&timer] { timer.cancel(); };
        co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
        connection.on_stop = {};
        const std::chrono::duration<double> waited = connection.core.clock.tick() - first_call;
        exchange.request.waited_s = waited.count();
        exchange.request.asked_at = system_clock().tick();
    }
}

/// Asks whether the body may come at all. False: there is a response that says why not.
asio::awaitable<bool> ask_admission(Connection& connection, Exchange& exchange) {
    std::optional<Response> refused;
    const std::function<void()> work = [&] { refused = refused_admission(exchange); };
    const bool ran = co_await on_lane(connection.core, exchange.route->lane, work);
    if (!ran) refused = busy_response(exchange.request);
    if (refused) exchange.response = std::move(*refused);
    co_return !refused;
}

/// Gives the body's memory back, and the allocator's when many bodies were held: freed blocks
/// between those in use would stay with the process.
asio::awaitable<void> drop_body(Connection& connection, Exchange& exchange) {
    std::string().swap(exchange.request.body);
    const std::function<void()> trim = [] { malloc_trim(0); };
    if (exchange.body_share.release()) co_await on_disk(connection.core, trim);
}

/// Asks the route's receiver where the body goes. None: it refused, or no worker was free.
asio::awaitable<std::optional<BodyTarget>> ask_receiver(Connection& connection,
                                                        Exchange& exchange) {
    std::optional<BodyTarget> target;
    std::optional<Response> refused;
    const std::function<void()> work = [&] {
        refused = refusal_of([&] { target = exchange.route->receive(exchange.request); },
                             exchange.request);
    };
    const bool ran = co_await on_lane(connection.core, exchange.route->lane, work);
    if (!ran) refused = busy_response(exchange.request);
    if (refused) exchange.response = std::move(*refused);
    co_return target;
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
        exchange.response = no_room_response(exchange.request);
        co_return;
    }
    if (const auto problem = body_problem(exchange)) {
        exchange.response = problem_response(*problem, exchange.request.request_id);
        co_return;
    }
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
        co_await call_handler(connection, exchange);
    }
    co_await drop_body(connection, exchange);
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
    connection.core.metrics.request_finished(
        {.method = method,
         .route = exchange.route != nullptr ? std::string_view(request.route) : "unmatched",
         .status = exchange.response.status,
         .seconds = taken.count()});
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
    exchange.response = problem_response(
        {.status = 503,
         .code = "overloaded",
         .detail = "too many large responses are being sent; try again soon, or ask for "
                   "less at once (limit, resolution)",
         .headers = {{"Retry-After", "1"}}},
        exchange.request.request_id);
}

/// As drop_body, when the answer is sent.
asio::awaitable<void> drop_answer(Connection& connection, Exchange& exchange) {
    std::string().swap(exchange.response.body);
    const std::function<void()> trim = [] { malloc_trim(0); };
    if (exchange.answer_share.release()) co_await on_disk(connection.core, trim);
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
        co_await drop_answer(connection, exchange);
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
    co_return co_await send_response(connection, exchange);
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
