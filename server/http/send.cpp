#include "server/http/send.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>

#include "api/base/posix.h"
#include "server/http/answer.h"

// A large body is sent in pieces, each with the time limit of a write. A stream of events sleeps
// until its source wakes it from any thread; many wakes become one. While it sleeps, a watcher
// reads from the connection, since nothing else would notice that the client has gone. A comment
// after each heartbeat interval keeps proxies from closing it.
namespace slipway {

namespace {

/// Held by each connection that sends a file, beside the budget of answers.
constexpr std::size_t file_piece_bytes = counted_answer_bytes;
constexpr std::size_t small_body_bytes = 16 * 1024;

asio::awaitable<Sent> send_file(Connection& connection, const FileBody& body, WriteBounds bounds) {
    Sent sent;
    std::string piece;
    while (sent.bytes < body.length) {
        piece.resize(std::min<std::uint64_t>(file_piece_bytes, body.length - sent.bytes));
        ssize_t bytes = 0;
        const std::function<void()> work = [&] {
            do {
                bytes = pread(body.file->get(), piece.data(), piece.size(),
                              static_cast<off_t>(body.offset + sent.bytes));
            } while (bytes < 0 && errno == EINTR);
        };
        co_await on_disk(connection.core, work);
        sent.complete = bytes > 0;
        if (sent.complete)
            sent.complete = co_await write_all(
                connection, std::string_view(piece).substr(0, static_cast<std::size_t>(bytes)),
                bounds);
        if (!sent.complete) co_return sent;
        sent.bytes += static_cast<std::uint64_t>(bytes);
    }
    co_return sent;
}

/// What wakes the coroutine that sends events. Shared with the source's `wake`, which may be called
/// on any thread and after the stream has ended, and with the watcher.
struct Signal : std::enable_shared_from_this<Signal> {
    explicit Signal(asio::any_io_executor executor_) : executor(executor_), timer(executor_) {}

    asio::any_io_executor executor;
    std::atomic<bool> posted{false};
    // on the strand only
    asio::steady_timer timer;
    bool ready = false;
    bool client_gone = false;
    bool watching = true;

    /// From any thread; many calls become one.
    void wake() {
        if (posted.exchange(true)) return;
        asio::post(executor, [self = shared_from_this()] {
            self->posted = false;
            self->wake_now();
        });
    }
    void wake_now() {
        ready = true;
        timer.cancel();
    }
};

/// Notices that the client has gone, which nothing else would before the next event. What a client
/// sends after its request is dropped.
asio::awaitable<void> watch(std::shared_ptr<Connection> connection,
                            std::shared_ptr<Signal> signal) {
    std::string dropped(512, '\0');
    std::size_t bytes = 0;
    ErrorOfIo error;
    while (!error && bytes < 64 * 1024) {
        const asio::mutable_buffer room(dropped.data(), dropped.size());
        bytes += co_await connection->wire->read_some(room, error);
    }
    signal->client_gone = true;
    signal->watching = false;
    signal->wake_now();
}

/// Waits until the source may have more; true when the heartbeat interval passed before.
asio::awaitable<bool> wait_for_events(Signal& signal, double heartbeat_s) {
    if (signal.ready) co_return false;
    signal.timer.expires_after(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(heartbeat_s)));
    auto [cancelled] = co_await signal.timer.async_wait(as_tuple_awaitable);
    co_return !cancelled && !signal.ready;
}

/// Frames `bytes` in place: an event may be large.
asio::awaitable<bool> write_chunk(Connection& connection, std::string& bytes, bool chunked) {
    if (!chunked) co_return co_await write_all(connection, bytes);
    bytes.insert(0, fmt::format("{:x}\r\n", bytes.size()));
    bytes += "\r\n";
    co_return co_await write_all(connection, bytes);
}

asio::awaitable<Sent> pump(Connection& connection, EventSource& source, Signal& signal,
                           bool chunked) {
    Sent sent;
    const double heartbeat_s = connection.core.options.deadlines.heartbeat_s;
    for (bool more = true; more && !connection.core.stopping && !signal.client_gone;) {
        signal.ready = false;
        std::string bytes;    // an idle stream holds no memory
        more = source.take(bytes);
        if (bytes.empty() && more) {
            const bool silent = co_await wait_for_events(signal, heartbeat_s);
            if (!silent) continue;
            bytes = source.heartbeat();
        }
        if (bytes.empty()) continue;
        const std::size_t size = bytes.size();
        sent.complete = co_await write_chunk(connection, bytes, chunked);
        if (!sent.complete) co_return sent;
        sent.bytes += size;
    }
    if (signal.client_gone) sent.complete = false;
    if (sent.complete && chunked) {
        const std::string_view last_chunk = "0\r\n\r\n";
        sent.complete = co_await write_all(connection, last_chunk);
    }
    co_return sent;
}

}    // namespace

asio::awaitable<Sent> send_answer(Connection& connection, const std::string& head,
                                  const Response& response, bool head_only) {
    const std::string_view body = memory_body_of(response);
    Sent sent;
    if (head_only || response.file || body.size() > small_body_bytes) {
        sent.complete = co_await write_all(connection, head);
        if (!sent.complete || head_only) co_return sent;
        WriteBounds bounds{.permit = response.permit.get()};
        if (response.file) co_return co_await send_file(connection, *response.file, bounds);
        const HttpDeadlines& deadlines = connection.core.options.deadlines;
        if (response.body.size() > counted_answer_bytes)
            bounds.stall_s = std::min(deadlines.write_stall_s, deadlines.buffered_answer_stall_s);
        sent.complete = co_await write_all(connection, body, bounds);
    } else {
        const std::string whole = head + std::string(body);
        sent.complete = co_await write_all(connection, whole);
    }
    if (sent.complete) sent.bytes = body.size();
    co_return sent;
}

asio::awaitable<Sent> send_events(Connection& connection, const std::string& head,
                                  EventSource& source, bool chunked) {
    Sent sent;
    sent.complete = co_await write_all(connection, head);
    if (!sent.complete) {
        source.close();
        co_return sent;
    }
    const auto signal = std::make_shared<Signal>(connection.wire->executor());
    connection.on_stop = [signal] { signal->wake_now(); };
    // The watcher's read has no deadline; later deadlines are those of writes alone.
    connection.wire->set_no_deadline();
    asio::co_spawn(connection.wire->executor(), watch(connection.shared_from_this(), signal),
                   asio::detached);
    // Weak: the source may keep the function a little longer than the server lives.
    source.start([weak = std::weak_ptr(signal)] {
        if (const auto waiting = weak.lock()) waiting->wake();
    });
    sent = co_await pump(connection, source, *signal, chunked);
    source.close();
    connection.on_stop = {};
    // Nothing may read while the watcher does: wait until it has stopped.
    while (signal->watching) {
        connection.wire->cancel();
        signal->ready = false;
        co_await wait_for_events(*signal, 1);
    }
    co_return sent;
}

}    // namespace slipway
