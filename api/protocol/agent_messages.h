#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/spec/intent.h"

namespace slipway {

// Lines on executor.sock, each with its newline. The agent sends hello first, then heartbeats,
// requests to save, and at most one stop; the executor answers with frames and heartbeats.

/// `after`: frames up to this number are known.
std::string hello_line(const std::string& fence, std::int64_t after);
std::string stop_line(Intent reason);
/// `number`: how many checkpoints have been asked for, ever. Said again, it asks for no other one.
std::string save_line(std::int64_t number);
inline constexpr std::string_view heartbeat_line = "{\"type\":\"heartbeat\"}\n";

/// A line that came on executor.sock: from the agent, or from whoever else reached the socket.
struct AgentMessage {
    std::string type{};                    ///< hello, heartbeat, save, stop; others: no meaning
    std::optional<std::string> fence{};    ///< of a hello
    std::int64_t after = 0;                ///< of a hello
    std::string reason{};                  ///< of a stop: the word of an Intent
    std::int64_t number = 0;               ///< of a save
};

/// None when the line is no JSON object. A field of another type, or a number that cannot be one of
/// a frame, is as if it were absent.
std::optional<AgentMessage> read_agent_message(std::string_view line);

}    // namespace slipway
