#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace slipway {

// Between the agent and an executor that stays: each message is one packet of the socket that the
// executor begins with. The agent sends orders, each with the descriptor of the run folder's lock;
// the executor answers each attempt that ended well, and is ready for the next one then. Whatever
// else ends an attempt ends the executor, which answers nothing. Once the agent has closed its end
// no order follows. The run folder of an order may hold `position`, `executor.sock` and an empty
// `output.log` of the run before, for the executor to use again: a new file costs more.

/// The descriptor of that socket, as the executor begins.
inline constexpr int worker_socket_fd = 3;
/// No message is longer.
inline constexpr int worker_message_bytes_max = 8192;

struct WorkerOrder {
    std::string run_folder;    ///< absolute, with attempt.json
    bool operator==(const WorkerOrder&) const = default;
};

struct WorkerAnswer {
    int exit_code = 0;    ///< that a process of this attempt alone would have ended with
    bool operator==(const WorkerAnswer&) const = default;
};

std::string to_message(const WorkerOrder& order);
std::string to_message(const WorkerAnswer& answer);
/// None for anything else.
std::optional<WorkerOrder> read_worker_order(std::string_view message);
std::optional<WorkerAnswer> read_worker_answer(std::string_view message);

}    // namespace slipway
