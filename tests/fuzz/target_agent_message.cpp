#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/check.h"
#include "api/base/json.h"
#include "api/protocol/agent_messages.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

namespace slipway {

std::string run_agent_message(std::span<const std::byte> input) {
    const auto message = read_agent_message(text_of(input));
    if (!message) return "no message";
    check(message->after >= 0, "frames are numbered from 1 on");
    std::string said = fmt::format("'{}' after {}", message->type, message->after);
    if (message->fence) said += fmt::format(", fence '{}'", *message->fence);
    if (!message->reason.empty()) said += fmt::format(", reason '{}'", message->reason);
    check(Json(said).dump().size() > said.size(), "what was read can be written");
    return said;
}

}    // namespace slipway
