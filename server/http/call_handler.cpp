// Handlers run on a lane of worker threads, alone or gathered with requests that wait for the same
// route. One that waits for something answers "again after", and its connection sleeps meanwhile
// instead of a worker. A full lane is an answer, too: 503.
#include "server/http/call_handler.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <functional>
#include <utility>

#include "server/http/content_encoding.h"
#include "server/http/problem.h"

namespace slipway {

namespace {

Response busy_response(const Request& request) {
    return overloaded_response("too many requests wait for a worker; try again soon", 1,
                               request.request_id);
}

/// What shares the workers: requests with the same credentials, or of the same address without any.
/// Guessed credentials have a share as well, but are rejected soon.
FairLane::Client client_of(const Request& request) {
    const std::hash<std::string_view> hash;
    for (const std::string_view name : {"authorization", "cookie"})
        if (const auto credentials = request.header(name)) return hash(*credentials);
    return hash(request.peer);
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

}    // namespace

asio::awaitable<void> call_handler(Connection& connection, Exchange& exchange) {
    asio::steady_timer timer(connection.wire->executor());
    const Tick first_call = connection.core.clock.tick();
    exchange.request.asked_at = system_clock().tick();
    exchange.request.client_has_left = [&connection] { return connection.wire->has_ended(); };
    if (is_gathered(exchange)) {
        const bool ran = co_await call_gathered(connection, exchange);
        if (!ran || !exchange.response.alone) co_return;
    }
    for (;;) {
        const FairLane::Work work = [&](bool waited) {
            // What begins at once is done, since a client may end its side and read on.
            exchange.broken = waited && exchange.request.client_has_left();
            if (!exchange.broken) admit_and_answer(exchange);
        };
        const bool ran = co_await on_lane(connection.core, exchange.route->lane,
                                          client_of(exchange.request), work);
        if (!ran) {
            exchange.response = busy_response(exchange.request);
            co_return;
        }
        if (exchange.broken || !exchange.response.again_after_s) co_return;
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

asio::awaitable<bool> ask_admission(Connection& connection, Exchange& exchange) {
    std::optional<Response> refused;
    const FairLane::Work work = [&](bool) { refused = refused_admission(exchange); };
    const bool ran =
        co_await on_lane(connection.core, exchange.route->lane, client_of(exchange.request), work);
    if (!ran) refused = busy_response(exchange.request);
    if (refused) exchange.response = std::move(*refused);
    co_return !refused;
}

asio::awaitable<std::optional<BodyTarget>> ask_receiver(Connection& connection,
                                                        Exchange& exchange) {
    std::optional<BodyTarget> target;
    std::optional<Response> refused;
    const FairLane::Work work = [&](bool) {
        refused = refusal_of([&] { target = exchange.route->receive(exchange.request); },
                             exchange.request);
    };
    const bool ran =
        co_await on_lane(connection.core, exchange.route->lane, client_of(exchange.request), work);
    if (!ran) refused = busy_response(exchange.request);
    if (refused) exchange.response = std::move(*refused);
    co_return target;
}

}    // namespace slipway
