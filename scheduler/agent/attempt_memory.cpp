#include "scheduler/agent/attempt_memory.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/json.h"

namespace slipway {

std::int64_t attempt_memory_bytes(const AgentOptions& options, const std::string& spec, int cores) {
    const std::int64_t share =
        options.memory_bytes / std::max(options.cores, 1) * std::clamp(cores, 1, options.cores);
    const Json parsed = Json::parse(spec, nullptr, false);
    const Json::json_pointer place("/accelerator/memory_bytes");
    if (!parsed.is_object() || !parsed.contains(place) || !parsed.at(place).is_number_integer())
        return share;
    const auto asked = parsed.at(place).get<std::int64_t>();
    return options.memory_bytes > 0 ? std::min(asked, options.memory_bytes) : asked;
}

}    // namespace slipway
