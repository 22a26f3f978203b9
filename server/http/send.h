#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>

#include "server/http/connection.h"
#include "server/http/message.h"

namespace slipway {

/// How sending an answer ended.
struct Sent {
    bool complete = true;       ///< false: the client has gone or was too slow, the file shrank, or
                                ///< the permit has ended
    std::uint64_t bytes = 0;    ///< of the body
};

/// Writes an encoded head and the body that belongs to it; the head alone when `head_only`.
asio::awaitable<Sent> send_answer(Connection& connection, const std::string& head,
                                  const Response& response, bool head_only);

/// Writes an encoded head, then what the source gives until it ends, the client goes or the server
/// stops; the last chunk is always sent to a client that is still there. A comment is sent when
/// nothing else was for the heartbeat interval. Without `chunked` the end is the connection's end.
asio::awaitable<Sent> send_events(Connection& connection, const std::string& head,
                                  EventSource& source, bool chunked);

}    // namespace slipway
