#include "server/http/connection.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace slipway {

namespace {

constexpr std::size_t piece_bytes = 64 * 1024;
constexpr std::size_t linger_bytes_max = 1 << 20;

/// Counts one more that waits for a thread; false, and none is counted: too many wait.
bool enter_queue(const ServerCore& core, std::atomic<std::size_t>& waiting) {
    if (waiting.fetch_add(1) < core.options.worker_queue_max) return true;
    waiting.fetch_sub(1);
    return false;
}

}    // namespace

void Connection::stop_soon() {
    asio::post(wire->executor(), [self = shared_from_this()] {
        if (self->idle) self->wire->cancel();
        if (self->on_stop) self->on_stop();
    });
}

void Connection::make_room() {
    asio::post(wire->executor(), [self = shared_from_this()] {
        if (!self->reserved && !self->pending) return;    // it asks at this moment
        if (self->idle)
            self->wire->cancel();
        else
            self->wire->close();
    });
}

void Connection::cut() {
    asio::post(wire->executor(), [self = shared_from_this()] {
        self->wire->close();
        if (self->on_stop) self->on_stop();
    });
}

std::size_t own_connections_max(const asio::ip::address& peer, const HttpLimits& limits) {
    return is_loopback(peer) ? limits.connections_of_loopback : limits.connections_per_address;
}

asio::awaitable<bool> read_more(Connection& connection, std::size_t bytes_max, ErrorOfIo& error) {
    const std::size_t held = connection.buffer.size();
    connection.buffer.resize(held + bytes_max);
    const asio::mutable_buffer room(connection.buffer.data() + held, bytes_max);
    const std::size_t bytes = co_await connection.wire->read_some(room, error);
    connection.buffer.resize(held + bytes);
    co_return bytes > 0;
}

asio::awaitable<bool> write_all(Connection& connection, std::string_view bytes,
                                WriteBounds bounds) {
    const double deadline_s =
        bounds.stall_s.value_or(connection.core.options.deadlines.write_stall_s);
    while (!bytes.empty()) {
        if (bounds.permit != nullptr && bounds.permit->ended()) co_return false;
        const std::string_view piece = bytes.substr(0, piece_bytes);
        connection.wire->set_deadline(deadline_s);
        const asio::const_buffer view(piece.data(), piece.size());
        const bool written = co_await connection.wire->write(view);
        if (!written) co_return false;
        bytes.remove_prefix(piece.size());
    }
    co_return true;
}

asio::awaitable<void> part(Connection& connection) {
    connection.buffer.clear();
    connection.wire->set_deadline(connection.core.options.deadlines.linger_s);
    co_await connection.wire->end_sending();
    std::size_t dropped = 0;
    ErrorOfIo error;
    while (dropped < linger_bytes_max) {
        const bool more = co_await read_more(connection, 4096, error);
        if (!more) break;
        dropped += connection.buffer.size();
        connection.buffer.clear();
    }
    connection.wire->close();
}

asio::awaitable<bool> on_lane(ServerCore& core, Lane lane, const std::function<void()>& work) {
    if (lane == Lane::io) {
        work();
        co_return true;
    }
    const bool worker = lane == Lane::worker;
    std::atomic<std::size_t>& waiting =
        worker ? core.waiting_for_worker : core.waiting_for_reserved;
    if (!enter_queue(core, waiting)) co_return false;
    const auto run = [&]() -> asio::awaitable<void> {
        waiting.fetch_sub(1);
        work();
        co_return;
    };
    asio::thread_pool& threads = worker ? core.workers : core.reserved;
    co_await asio::co_spawn(threads.get_executor(), run, asio::use_awaitable);
    co_return true;
}

asio::awaitable<bool> on_gathering_lane(ServerCore& core, GatheringLane& lane,
                                        const std::function<void(Gathering&)>& handle,
                                        const std::function<void()>& answer) {
    if (!enter_queue(core, core.waiting_for_worker)) co_return false;
    const auto begin = [&](auto&& resume) {
        // Shared: a function object must be copyable.
        auto waits = std::make_shared<std::decay_t<decltype(resume)>>(
            std::forward<decltype(resume)>(resume));
        lane.add({.handle =
                      [&](Gathering& gathering) {
                          core.waiting_for_worker.fetch_sub(1);
                          handle(gathering);
                      },
                  .answer = answer,
                  .done =
                      [waits] {
                          const auto executor = asio::get_associated_executor(*waits);
                          asio::post(executor, [waits] { std::move (*waits)(); });
                      }});
    };
    co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(begin,
                                                                          asio::use_awaitable);
    co_return true;
}

asio::awaitable<void> on_disk(ServerCore& core, const std::function<void()>& work) {
    const auto run = [&]() -> asio::awaitable<void> {
        work();
        co_return;
    };
    co_await asio::co_spawn(core.disk.get_executor(), run, asio::use_awaitable);
}

}    // namespace slipway
