#include "server/http/connection.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace slipway {

namespace {

constexpr std::size_t piece_bytes = 64 * 1024;
constexpr std::size_t linger_bytes_max = 1 << 20;

/// Waits until the function that `add` is given has been called, from any thread, and returns its
/// argument.
template <class Add>
asio::awaitable<bool> initiated(const Add& add) {
    const auto begin = [&](auto&& resume) {
        // Shared: a function object must be copyable.
        auto waits = std::make_shared<std::decay_t<decltype(resume)>>(
            std::forward<decltype(resume)>(resume));
        add([waits](bool result) {
            const auto executor = asio::get_associated_executor(*waits);
            asio::post(executor, [waits, result] { std::move (*waits)(result); });
        });
    };
    co_return co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(bool)>(
        begin, asio::use_awaitable);
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

asio::awaitable<bool> on_lane(ServerCore& core, Lane lane, FairLane::Client client,
                              const FairLane::Work& work) {
    if (lane == Lane::io) {
        work(false);
        co_return true;
    }
    FairLane& queue = lane == Lane::worker ? core.worker_lane : core.reserved_lane;
    const auto add = [&](const auto& resume) {
        const bool waits = queue.add(client, [&work, resume](bool waited) {
            work(waited);
            resume(true);
        });
        if (!waits) resume(false);
    };
    co_return co_await initiated(add);
}

asio::awaitable<bool> on_gathering_lane(ServerCore& core, GatheringLane& lane,
                                        const std::function<void(Gathering&)>& handle,
                                        const std::function<void()>& answer) {
    if (core.waiting_to_gather.fetch_add(1) >= core.options.worker_queue_max) {
        core.waiting_to_gather.fetch_sub(1);
        co_return false;
    }
    const auto add = [&](const auto& resume) {
        lane.add({.handle =
                      [&](Gathering& gathering) {
                          core.waiting_to_gather.fetch_sub(1);
                          handle(gathering);
                      },
                  .answer = answer,
                  .done = [resume] { resume(true); }});
    };
    co_return co_await initiated(add);
}

asio::awaitable<void> on_disk(ServerCore& core, const std::function<void()>& work) {
    const auto run = [&]() -> asio::awaitable<void> {
        work();
        co_return;
    };
    co_await asio::co_spawn(core.disk.get_executor(), run, asio::use_awaitable);
}

}    // namespace slipway
