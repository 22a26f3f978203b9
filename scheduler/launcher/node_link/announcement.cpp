#include "scheduler/launcher/node_link/announcement.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "api/base/posix.h"

namespace slipway {

void announce(const std::filesystem::path& file, const Announcement& announcement) {
    const Json text{{"address", announcement.address}, {"port", announcement.port}};
    write_file_aside(file, text.dump());
}

std::optional<Announcement> read_announcement(const std::filesystem::path& file) {
    std::ifstream stream(file);
    if (!stream) return std::nullopt;
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const Json stored = Json::parse(text, nullptr, false);
    if (!stored.is_object()) return std::nullopt;
    try {
        const auto port = stored.at("port").get<std::int64_t>();
        if (port <= 0 || port > UINT16_MAX) return std::nullopt;
        return Announcement{.address = stored.at("address").get<std::string>(),
                            .port = std::uint16_t(port)};
    } catch (const Json::exception&) {
        return std::nullopt;    // a field is missing, or is something else
    }
}

}    // namespace slipway
