#include "api/protocol/agent_messages.h"

#include <nlohmann/json.hpp>

#include "api/base/json.h"

namespace slipway {
namespace {

std::optional<std::string> text_field(const Json& message, const char* name) {
    const auto found = message.find(name);
    if (found == message.end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
}

std::int64_t number_field(const Json& message, const char* name) {
    const auto found = message.find(name);
    if (found == message.end() || !found->is_number_unsigned()) return 0;
    const auto number = found->get<std::uint64_t>();
    return number <= std::uint64_t{INT64_MAX} ? static_cast<std::int64_t>(number) : 0;
}

}    // namespace

std::string hello_line(const std::string& fence, std::int64_t after) {
    return Json{{"type", "hello"}, {"fence", fence}, {"after", after}}.dump() + "\n";
}

std::string stop_line(Intent reason) {
    return Json{{"type", "stop"}, {"reason", to_string(reason)}}.dump() + "\n";
}

std::string save_line(std::int64_t number) {
    return Json{{"type", "save"}, {"number", number}}.dump() + "\n";
}

std::optional<AgentMessage> read_agent_message(std::string_view line) {
    const Json message = Json::parse(line, nullptr, false);
    if (!message.is_object()) return std::nullopt;
    return AgentMessage{.type = text_field(message, "type").value_or(""),
                        .fence = text_field(message, "fence"),
                        .after = number_field(message, "after"),
                        .reason = text_field(message, "reason").value_or(""),
                        .number = number_field(message, "number")};
}

}    // namespace slipway
