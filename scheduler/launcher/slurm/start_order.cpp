#include "scheduler/launcher/slurm/start_order.h"

#include <nlohmann/json.hpp>

#include "api/base/json.h"

namespace slipway {

std::string to_text(const StartOrder& order) {
    return Json{{"program", order.program.string()}, {"arguments", order.arguments},
                {"environment", order.environment},  {"folder", order.folder.string()},
                {"output", order.output.string()},   {"result", order.result.string()},
                {"lock", order.lock.string()},       {"members", order.members}}
        .dump();
}

std::optional<StartOrder> read_start_order(std::string_view text) {
    const Json stored = Json::parse(text, nullptr, false);
    if (!stored.is_object()) return std::nullopt;
    try {
        return StartOrder{.program = stored.at("program").get<std::string>(),
                          .arguments = stored.at("arguments").get<std::vector<std::string>>(),
                          .environment = stored.at("environment").get<std::vector<std::string>>(),
                          .folder = stored.at("folder").get<std::string>(),
                          .output = stored.at("output").get<std::string>(),
                          .result = stored.at("result").get<std::string>(),
                          .lock = stored.at("lock").get<std::string>(),
                          // An order of an earlier version has none.
                          .members = stored.value("members", 1)};
    } catch (const Json::exception&) {
        return std::nullopt;    // a member is missing, or is something else
    }
}

}    // namespace slipway
