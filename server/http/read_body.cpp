#include "server/http/read_body.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "api/base/posix.h"
#include "server/http/chunked.h"
#include "server/http/transfer_permit.h"

// A body goes into memory or straight into a file, in pieces, and its size is known or chunked. It
// must come at a minimum rate over its whole length, with a grace at the beginning, so that a
// client that sends a byte a second cannot keep a connection. A transfer may lose its permit
// meanwhile, when its token ends.
namespace slipway {

namespace {

/// Where the bytes of a body go.
struct Sink {
    ServerCore& core;
    Request& request;
    ByteShare& share;
    const BodyTarget* target;    // none: into request.body
};

std::optional<Refusal> write_at(int file, std::string_view bytes, std::uint64_t offset) {
    while (!bytes.empty()) {
        const ssize_t written =
            pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0)
            return Refusal{507, "disk_full", "the body could not be stored: the disk is full"};
        bytes.remove_prefix(static_cast<std::size_t>(written));
        offset += static_cast<std::uint64_t>(written);
    }
    return std::nullopt;
}

asio::awaitable<std::optional<Refusal>> store(Sink& sink, std::string_view bytes) {
    std::optional<Refusal> refusal;
    if (bytes.empty()) co_return refusal;
    if (sink.target == nullptr) {
        if (!sink.share.grow(bytes.size()))
            co_return Refusal{503, "overloaded",
                              "too many requests are sending a body; try again soon"};
        sink.request.body.append(bytes);
    } else {
        const std::uint64_t offset = sink.target->offset + sink.request.received_bytes;
        const std::function<void()> work = [&] {
            refusal = write_at(sink.target->file->get(), bytes, offset);
            if (!refusal && sink.target->written) sink.target->written(bytes, offset);
        };
        co_await on_disk(sink.core, work);
    }
    if (!refusal) sink.request.received_bytes += bytes.size();
    co_return refusal;
}

BodyEnd refused(Refusal refusal) {
    return {BodyEnd::Kind::refused, std::move(refusal)};
}

/// Fills the connection's buffer with more of the body, within what the minimum rate allows.
class BodyReader {
public:
    BodyReader(Connection& connection, const Sink& sink)
        : connection_(connection),
          permit_(sink.target != nullptr ? sink.target->permit.get() : nullptr),
          bytes_per_s_(rate_of(connection.core.options.deadlines, sink)),
          started_(connection.core.clock.tick()) {}

    /// None: there are bytes. `wire_bytes` counts what has come so far.
    asio::awaitable<std::optional<BodyEnd>> read(std::size_t bytes_max) {
        for (;;) {
            if (const auto why = permit_ ? permit_->ended() : std::nullopt) co_return refused(*why);
            const double left_s = seconds_left();
            const double check_s = connection_.core.options.deadlines.permit_check_s;
            connection_.wire->set_deadline(
                std::max(permit_ ? std::min(left_s, check_s) : left_s, 0.001));
            ErrorOfIo error;
            const std::size_t held = connection_.buffer.size();
            const bool more = co_await read_more(connection_, bytes_max, error);
            wire_bytes_ += connection_.buffer.size() - held;
            if (more) co_return std::nullopt;
            if (!timed_out(error)) co_return BodyEnd{BodyEnd::Kind::broken};
            if (seconds_left() <= 0) break;
        }
        co_return refused(
            {408, "body_too_slow",
             fmt::format("the body must arrive at {} bytes/s or faster", bytes_per_s_)});
    }

private:
    /// Until the body lags its minimum rate by more than the grace.
    double seconds_left() const {
        const std::chrono::duration<double> taken = connection_.core.clock.tick() - started_;
        return connection_.core.options.deadlines.body_grace_s +
               static_cast<double>(wire_bytes_) / bytes_per_s_ - taken.count();
    }

    static double rate_of(const HttpDeadlines& deadlines, const Sink& sink) {
        return sink.target != nullptr ? deadlines.body_bytes_per_s
                                      : deadlines.buffered_body_bytes_per_s;
    }

    Connection& connection_;
    const TransferPermit* const permit_;    // null: nobody ends it
    const double bytes_per_s_;
    const Tick started_;
    std::uint64_t wire_bytes_ = 0;
};

asio::awaitable<BodyEnd> read_sized(Connection& connection, std::uint64_t bytes, Sink& sink) {
    BodyReader reader(connection, sink);
    std::uint64_t left = bytes;
    while (left > 0) {
        if (connection.buffer.empty()) {
            const std::size_t wanted = std::min<std::uint64_t>(left, 64 * 1024);
            const std::optional<BodyEnd> end = co_await reader.read(wanted);
            if (end) co_return *end;
        }
        const auto length =
            static_cast<std::size_t>(std::min<std::uint64_t>(left, connection.buffer.size()));
        const std::string_view bytes_now(connection.buffer.data(), length);
        const std::optional<Refusal> refusal = co_await store(sink, bytes_now);
        if (refusal) co_return refused(*refusal);
        connection.buffer.erase(0, length);
        left -= length;
    }
    co_return BodyEnd{};
}

asio::awaitable<BodyEnd> read_chunked(Connection& connection, ChunkDecoder& decoder, Sink& sink) {
    BodyReader reader(connection, sink);
    for (;;) {
        std::string_view input = connection.buffer;
        ChunkDecoder::Step step;
        do {
            step = decoder.next(input);
            const std::optional<Refusal> refusal = co_await store(sink, step.data);
            if (refusal) co_return refused(*refusal);
            input.remove_prefix(step.consumed);
        } while (step.state == ChunkDecoder::State::more && !input.empty());
        if (step.state == ChunkDecoder::State::refused) co_return refused(decoder.refusal());
        connection.buffer.erase(0, connection.buffer.size() - input.size());
        if (step.state == ChunkDecoder::State::done) co_return BodyEnd{};
        const std::optional<BodyEnd> end = co_await reader.read(16 * 1024);
        if (end) co_return *end;
    }
}

}    // namespace

asio::awaitable<BodyEnd> read_body(Connection& connection, const RequestHead& head,
                                   Request& request, ByteShare& share, const BodyTarget* target,
                                   std::uint64_t bytes_max) {
    if (head.body_bytes > bytes_max)
        co_return refused(
            {413, "body_too_large", fmt::format("the body is larger than {} bytes", bytes_max)});
    if (head.expects_continue && head.has_body() && connection.buffer.empty()) {
        const std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
        const bool written = co_await write_all(connection, go_on);
        if (!written) co_return BodyEnd{BodyEnd::Kind::broken};
    }
    Sink sink{connection.core, request, share, target};
    // Of memory that is not touched the system gives none, and appending moves nothing.
    if (target == nullptr && !head.chunked) request.body.reserve(head.body_bytes);
    if (!head.chunked) co_return co_await read_sized(connection, head.body_bytes, sink);
    ChunkDecoder decoder(bytes_max, connection.core.options.limits.chunk_extra_bytes);
    co_return co_await read_chunked(connection, decoder, sink);
}

}    // namespace slipway
