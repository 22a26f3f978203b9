#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slipway {

/// What a client reads first: how long to wait before it comes back after a break.
inline constexpr std::string_view stream_preamble = "retry: 2000\n\n";
/// A comment: keeps proxies and both ends sure that the stream lives.
inline constexpr std::string_view stream_heartbeat = ":\n\n";

/// One event as text/event-stream: id, event, data. `body` is JSON; should it hold line breaks,
/// each line becomes a data line, which the client joins again.
std::string event_frame(std::int64_t seq, std::string_view type, std::string_view body);

/// Says that the events `from` to `to` will not come. Its id is `to`, so that a client that
/// comes back goes on behind it.
std::string gap_frame(std::int64_t from, std::int64_t to);

}    // namespace slipway
