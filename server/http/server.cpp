#include "server/http/server.h"

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
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "api/base/error.h"
#include "api/base/log.h"
#include "server/http/metrics.h"
#include "server/http/session.h"

namespace slipway {

using asio::ip::tcp;

namespace {

/// Who shares a count: one IPv4 address, or the first 64 bits of an IPv6 one.
std::string counted_address(const asio::ip::address& address) {
    if (address.is_v4()) return address.to_string();
    const asio::ip::address_v6 v6 = address.to_v6();
    if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_string();
    auto bytes = v6.to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
    return asio::ip::address_v6(bytes).to_string() + "/64";
}

bool is_loopback(const asio::ip::address& address) {
    if (address.is_v6() && address.to_v6().is_v4_mapped())
        return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
    return address.is_loopback();
}

std::string shown_address(const asio::ip::address& address) {
    if (address.is_v6() && address.to_v6().is_v4_mapped())
        return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
    return address.to_string();
}

/// For clients above a cap: no request of theirs is read, so this answer is the same for all.
constexpr std::string_view too_many_connections =
    "HTTP/1.1 503 Service Unavailable\r\nServer: slipway\r\nContent-Length: 0\r\n"
    "Retry-After: 5\r\nConnection: close\r\n\r\n";

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
          work(asio::make_work_guard(io)) {}

    asio::io_context io;
    ServerCore core;
    std::optional<asio::ssl::context> tls;    // constant after start()
    asio::executor_work_guard<asio::io_context::executor_type> work;
    std::vector<std::unique_ptr<tcp::acceptor>> acceptors;    // constant between start and stop
    std::vector<std::thread> threads;
    std::uint16_t port = 0;

    std::mutex mutex;
    std::condition_variable none_left;
    // guarded by mutex
    std::map<Connection*, std::weak_ptr<Connection>> connections;
    std::map<std::string, std::size_t> per_address;
    std::size_t refusals_under_way = 0;

    void listen(const std::string& address);
    asio::awaitable<void> accept_from(tcp::acceptor& acceptor);
    void admit(tcp::socket socket);
    bool has_room(const std::string& counted, bool loopback);
    void refuse(tcp::socket socket);
    void begin(std::shared_ptr<Connection> connection, std::string counted);
    void end(Connection* connection, const std::string& counted);
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
            admit(tcp::socket(std::move(socket)));
        } else if (acceptor.is_open()) {
            // Out of descriptors or memory: those that end will give some back.
            log_warn("accept failed", {{"error", error.message()}});
            pause.expires_after(std::chrono::milliseconds(100));
            co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
        }
    }
}

bool Server::State::has_room(const std::string& counted, bool loopback) {
    const HttpLimits& limits = core.options.limits;
    const std::lock_guard lock(mutex);
    if (core.stopping || connections.size() >= limits.connections) return false;
    if (loopback && !limits.count_loopback) return true;
    const auto found = per_address.find(counted);
    return found == per_address.end() || found->second < limits.connections_per_address;
}

void Server::State::admit(tcp::socket socket) {
    ErrorOfIo error;
    const tcp::endpoint peer = socket.remote_endpoint(error);
    if (error) return;    // gone already
    std::string counted = counted_address(peer.address());
    if (!has_room(counted, is_loopback(peer.address()))) return refuse(std::move(socket));
    std::unique_ptr<Wire> wire =
        tls ? tls_wire(std::move(socket), *tls, core.options.deadlines.tls_handshake_s)
            : plain_wire(std::move(socket));
    begin(std::make_shared<Connection>(core, std::move(wire), shown_address(peer.address())),
          std::move(counted));
}

void Server::State::refuse(tcp::socket socket) {
    {
        // Saying why costs a descriptor for a moment: only so many at a time, the rest are closed.
        const std::lock_guard lock(mutex);
        if (tls || core.stopping || refusals_under_way >= 64) return;
        ++refusals_under_way;
    }
    auto connection = std::make_shared<Connection>(core, plain_wire(std::move(socket)), "");
    const auto say = [](std::shared_ptr<Connection> refused) -> asio::awaitable<void> {
        co_await write_all(*refused, too_many_connections);
        co_await part(*refused);
    };
    asio::co_spawn(connection->wire->executor(), say(connection),
                   [this](const std::exception_ptr&) {
                       const std::lock_guard lock(mutex);
                       --refusals_under_way;
                   });
}

void Server::State::begin(std::shared_ptr<Connection> connection, std::string counted) {
    {
        const std::lock_guard lock(mutex);
        connections.emplace(connection.get(), connection);
        ++per_address[counted];
    }
    core.metrics.connections_changed(1);
    Connection* const key = connection.get();
    asio::co_spawn(key->wire->executor(), serve(std::move(connection)),
                   [this, key, counted](const std::exception_ptr& failure) {
                       try {
                           if (failure) std::rethrow_exception(failure);
                       } catch (const std::exception& error) {
                           log_error("connection failed", {{"error", error.what()}});
                       }
                       end(key, counted);
                   });
}

void Server::State::end(Connection* connection, const std::string& counted) {
    core.metrics.connections_changed(-1);
    const std::lock_guard lock(mutex);
    connections.erase(connection);
    if (const auto found = per_address.find(counted); --found->second == 0)
        per_address.erase(found);
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
    allow_descriptors(options.limits.connections);
    if (!options.certificate_file.empty())
        state.tls.emplace(tls_context(options.certificate_file, options.private_key_file));
    for (const std::string& address : options.addresses)
        state.listen(address);
    for (const auto& acceptor : state.acceptors)
        asio::co_spawn(acceptor->get_executor(), state.accept_from(*acceptor), asio::detached);
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
