// Connections are coroutines on a few threads of I/O and handlers run on a bounded pool of
// workers, so slow handlers keep no connection from being read, and slow clients keep no worker.
// Each thing that a client can take has a budget in common: connections by address and in all,
// bytes of bodies and of answers held, requests under way. Above it a request is refused at once
// with 503; health and metrics have a lane of their own that this does not reach. A stop first
// closes what is idle, then lets requests end, then cuts.
#include "server/http/server.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <condition_variable>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "api/base/descriptors.h"
#include "api/base/error.h"
#include "api/base/log.h"
#include "server/http/metrics.h"
#include "server/http/origin.h"
#include "server/http/session.h"

namespace slipway {

using asio::ip::tcp;

namespace {

constexpr std::chrono::seconds trim_interval{10};

/// How many connections one other end may have.
std::size_t connections_max_of(const asio::ip::address& peer, const ServerOptions& options) {
    return is_trusted(peer, options.trusted_proxies) ? options.limits.connections
                                                     : own_connections_max(peer, options.limits);
}

/// Descriptors for all connections and for the rest of the program: without them a flood of clients
/// would also keep the database and the executors from being reached.
void allow_descriptors(std::size_t connections) {
    constexpr rlim_t for_the_rest = 1024;
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const rlim_t wanted = connections + for_the_rest;
    if (limit.rlim_cur >= wanted) return;
    limit.rlim_cur = std::min(limit.rlim_max, wanted);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < wanted)
        log_warn("too few file descriptors for the connection limit",
                 {{"allowed", limit.rlim_cur}, {"wanted", wanted}});
}

}    // namespace

struct Server::State {
    State(ServerOptions options, Router router, HttpMetrics& metrics, const Clock& clock)
        : core(std::move(options), std::move(router), metrics, clock),
          work(asio::make_work_guard(io)),
          trim_timer(asio::make_strand(io)) {}

    asio::io_context io;
    ServerCore core;
    std::optional<asio::ssl::context> tls;    // constant after start()
    asio::executor_work_guard<asio::io_context::executor_type> work;
    asio::steady_timer trim_timer;                            // on its strand
    std::vector<std::unique_ptr<tcp::acceptor>> acceptors;    // constant between start and stop
    std::vector<std::thread> threads;
    std::uint16_t port = 0;

    ClientCounts addresses;
    std::mutex mutex;
    std::condition_variable none_left;
    // guarded by mutex
    std::map<Connection*, std::weak_ptr<Connection>> connections;
    std::deque<std::weak_ptr<Connection>> reserve;    // oldest first

    void listen(const std::string& address);
    asio::awaitable<void> accept_from(tcp::acceptor& acceptor);
    asio::awaitable<void> trim_memory();
    void admit(tcp::socket socket);
    bool is_full();
    bool has_room(const asio::ip::address& peer);
    void reserve_for(const std::shared_ptr<Connection>& connection);
    void begin(std::shared_ptr<Connection> connection);
    void end(Connection* connection);
    template <class Act>
    void each_connection(Act act);
};

void Server::State::listen(const std::string& address) {
    ErrorOfIo error;
    const asio::ip::address parsed = asio::ip::make_address(address, error);
    if (error)
        throw Error(ErrorCode::invalid_argument,
                    "cannot listen on " + address + ": it is not an IP address");
    const tcp::endpoint endpoint(parsed, port != 0 ? port : core.options.port);
    auto acceptor = std::make_unique<tcp::acceptor>(asio::make_strand(io));
    const auto attempt = [&](ErrorOfIo failure) {
        if (failure)
            throw Error(ErrorCode::unavailable,
                        fmt::format("cannot listen on {} port {}: {}", address, endpoint.port(),
                                    failure.message()));
    };
    attempt(acceptor->open(endpoint.protocol(), error));
    close_on_exec(acceptor->native_handle());
    attempt(acceptor->set_option(tcp::acceptor::reuse_address(true), error));
    if (parsed.is_v6()) attempt(acceptor->set_option(asio::ip::v6_only(false), error));
    attempt(acceptor->bind(endpoint, error));
    attempt(acceptor->listen(1024, error));
    port = acceptor->local_endpoint().port();
    acceptors.push_back(std::move(acceptor));
}

asio::awaitable<void> Server::State::accept_from(tcp::acceptor& acceptor) {
    asio::steady_timer pause(acceptor.get_executor());
    while (acceptor.is_open()) {
        auto [error, socket] = co_await acceptor.async_accept(asio::make_strand(io),
                                                              asio::as_tuple(asio::use_awaitable));
        if (!error) {
            close_on_exec(socket.native_handle());
            admit(tcp::socket(std::move(socket)));
        } else if (acceptor.is_open()) {
            // Out of descriptors or memory: those that end will give some back.
            log_warn("accept failed", {{"error", error.message()}});
            pause.expires_after(std::chrono::milliseconds(100));
            co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
        }
    }
}

/// What handlers have freed goes back to the system after requests: freed blocks between those in
/// use would stay with the process.
asio::awaitable<void> Server::State::trim_memory() {
    const std::function<void()> trim = [] { malloc_trim(0); };
    for (std::uint64_t trimmed = 0; !core.stopping;) {
        trim_timer.expires_after(trim_interval);
        co_await trim_timer.async_wait(asio::as_tuple(asio::use_awaitable));
        const std::uint64_t added = core.worker_lane.added();
        if (core.stopping || std::exchange(trimmed, added) == added) continue;
        co_await on_disk(core, trim);
    }
}

bool Server::State::is_full() {
    const std::lock_guard lock(mutex);
    return connections.size() >= core.options.limits.connections + reserve.size();
}

/// True when a connection from there is within the limits, or another one makes room for it; then
/// it is counted. Clients that do not authenticate must not keep out clients that do.
bool Server::State::has_room(const asio::ip::address& peer) {
    const std::string address = counted_address(peer);
    const bool within = addresses.enter(address, connections_max_of(peer, core.options));
    if (within && !is_full()) return true;
    const std::shared_ptr<Connection> oldest = core.pending.take_oldest(within ? "" : address);
    if (oldest)
        oldest->make_room();
    else if (within)
        addresses.leave(address);
    // Counted while the other one still is.
    if (oldest && !within) addresses.enter(address, std::numeric_limits<std::size_t>::max());
    return oldest != nullptr;
}

void Server::State::admit(tcp::socket socket) {
    ErrorOfIo error;
    const tcp::endpoint peer = socket.remote_endpoint(error);
    if (error || core.stopping) return;    // gone already, or too late
    const bool reserved = !has_room(peer.address());
    std::unique_ptr<Wire> wire =
        tls ? tls_wire(std::move(socket), *tls, core.options.deadlines.tls_handshake_s)
            : plain_wire(std::move(socket));
    begin(std::make_shared<Connection>(core, std::move(wire), peer.address(), reserved));
}

/// Without this, who holds every connection also keeps health from being asked. An honest probe
/// asks at once, so the oldest is the one that only waits.
void Server::State::reserve_for(const std::shared_ptr<Connection>& connection) {
    std::shared_ptr<Connection> oldest;
    {
        const std::lock_guard lock(mutex);
        reserve.push_back(connection);
        if (reserve.size() > core.options.limits.reserved_connections) {
            oldest = reserve.front().lock();
            reserve.pop_front();
        }
    }
    if (oldest) oldest->make_room();
}

void Server::State::begin(std::shared_ptr<Connection> connection) {
    {
        const std::lock_guard lock(mutex);
        connections.emplace(connection.get(), connection);
    }
    if (connection->reserved)
        reserve_for(connection);
    else
        core.pending.enter(connection);
    core.metrics.connections_changed(1);
    asio::co_spawn(connection->wire->executor(), serve(connection),
                   [this, connection](const std::exception_ptr& failure) {
                       try {
                           if (failure) std::rethrow_exception(failure);
                       } catch (const std::exception& error) {
                           log_error("connection failed", {{"error", error.what()}});
                       }
                       end(connection.get());
                   });
}

void Server::State::end(Connection* connection) {
    core.pending.leave(*connection);
    core.metrics.connections_changed(-1);
    if (!connection->reserved) addresses.leave(counted_address(connection->peer));
    const std::lock_guard lock(mutex);
    connections.erase(connection);
    std::erase_if(reserve, [connection](const std::weak_ptr<Connection>& one) {
        const auto held = one.lock();
        return !held || held.get() == connection;
    });
    if (connections.empty()) none_left.notify_all();
}

template <class Act>
void Server::State::each_connection(Act act) {
    std::vector<std::shared_ptr<Connection>> open;
    {
        const std::lock_guard lock(mutex);
        for (const auto& [key, weak] : connections)
            if (auto connection = weak.lock()) open.push_back(std::move(connection));
    }
    for (const auto& connection : open)
        act(*connection);
}

Server::Server(ServerOptions options, Router router, HttpMetrics& metrics, const Clock& clock)
    : state_(std::make_unique<State>(std::move(options), std::move(router), metrics, clock)) {}

Server::~Server() {
    stop(std::chrono::milliseconds(0));
}

void Server::start() {
    State& state = *state_;
    const ServerOptions& options = state.core.options;
    allow_descriptors(options.limits.connections + options.limits.reserved_connections);
    if (!options.certificate_file.empty())
        state.tls.emplace(tls_context(options.certificate_file, options.private_key_file));
    for (const std::string& address : options.addresses)
        state.listen(address);
    for (const auto& acceptor : state.acceptors)
        asio::co_spawn(acceptor->get_executor(), state.accept_from(*acceptor), asio::detached);
    asio::co_spawn(state.trim_timer.get_executor(), state.trim_memory(), asio::detached);
    for (std::size_t i = 0; i < std::max<std::size_t>(options.io_threads, 1); ++i)
        state.threads.emplace_back([&state] { state.io.run(); });
}

std::uint16_t Server::port() const {
    return state_->port;
}

void Server::stop(std::chrono::milliseconds grace) {
    State& state = *state_;
    if (state.core.stopping.exchange(true)) return;
    for (const auto& acceptor : state.acceptors)
        asio::post(acceptor->get_executor(), [&acceptor] {
            ErrorOfIo ignored;    // it is not used again
            acceptor->close(ignored);
        });
    asio::post(state.trim_timer.get_executor(), [&state] { state.trim_timer.cancel(); });
    if (!state.threads.empty()) {
        state.each_connection([](Connection& connection) { connection.stop_soon(); });
        std::unique_lock lock(state.mutex);
        const auto none = [&state] { return state.connections.empty(); };
        if (!state.none_left.wait_for(lock, grace, none)) {
            lock.unlock();
            state.each_connection([](Connection& connection) { connection.cut(); });
            lock.lock();
            // Handlers cannot be cut; each is bounded by its own deadlines.
            state.none_left.wait(lock, none);
        }
    }
    state.work.reset();
    for (std::thread& thread : state.threads)
        thread.join();
    state.core.workers.join();
    state.core.reserved.join();
    state.core.disk.join();
}

}    // namespace slipway
