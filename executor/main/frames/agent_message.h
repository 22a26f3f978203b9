#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipway {

/// A line that came on executor.sock: from the agent, or from whoever else reached the socket.
struct AgentMessage {
    std::string type{};                    ///< "hello", "beat", "stop"; anything else says nothing
    std::optional<std::string> fence{};    ///< of a hello
    std::int64_t after = 0;                ///< of a hello: frames up to this number are known
    std::string reason{};                  ///< of a stop: the word of an Intent
};

/// None when the line is no JSON object. A field of another type, or a number that cannot be one of
/// a frame, is as if it were absent.
std::optional<AgentMessage> read_agent_message(std::string_view line);

}    // namespace slipway
