#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "api/base/posix.h"
#include "api/spec/event.h"
#include "api/spec/intent.h"

namespace slipway {

/// What a look at the socket found.
struct LinkEvents {
    bool heard = false;           ///< the executor said something
    bool frames = false;          ///< a numbered frame was among it
    bool first_metric = false;    ///< for the first time the values of a step were among it
    std::size_t bytes = 0;        ///< of all that it said
};

/// The agent's end of executor.sock, or of what stands for it when the executor runs on another
/// machine. It carries signs of life and requests; the frames that come
/// along are only a hint that frames.ndjson has grown, which is where they are read: so nothing
/// depends on how far this connection came. Never blocks. One thread.
class ExecutorLink {
public:
    /// `connect_executor` gives a new connection that does not block, or none; `after`: frames up
    /// to this number are known.
    ExecutorLink(std::function<std::optional<UniqueFd>()> connect_executor, std::string fence,
                 std::int64_t after);

    /// Connects and says hello unless that is done; true when connected.
    bool connect();
    bool connected() const { return bool(socket_); }
    int fd() const { return socket_.get(); }
    bool wants_to_write() const { return !to_send_.empty(); }

    /// Reads what is there, at most 1 MiB; the rest the next time. A broken connection is closed;
    /// connect() makes the next.
    LinkEvents read();
    /// Sends what is waiting.
    void write();
    /// Says that the agent lives; left out while older words wait.
    void heartbeat();
    /// Asks the executor to end. Kept and sent again after a reconnect.
    void stop(Intent intent);
    /// Asks the executor for a checkpoint: see save_line. Likewise.
    void save(std::int64_t number);

private:
    void close();

    const std::function<std::optional<UniqueFd>()> connect_executor_;
    const std::string fence_;
    const std::int64_t after_;
    UniqueFd socket_;
    std::string to_send_;
    std::string save_line_;        // empty: nothing asked yet
    std::string stop_line_;        // likewise
    bool at_line_start_ = true;    // of what was read
    bool measured_ = false;        // it has said what a step gave
};

}    // namespace slipway
