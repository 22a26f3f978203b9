#include "scheduler/launcher/slurm/start_order.h"

#include <nlohmann/json.hpp>

#include "api/base/error.h"
#include "api/base/json.h"
#include "scheduler/launcher/node_link/secret_channel.h"

namespace slipway {

namespace {

Json json_of(const StartLink& link) {
    return {{"identity", link.identity},
            {"secret", link.secret},
            {"announcement", link.announcement.string()}};
}

std::optional<StartLink> read_link(const Json& order) {
    const auto found = order.find("link");
    if (found == order.end()) return std::nullopt;
    StartLink link{.identity = found->at("identity").get<std::string>(),
                   .secret = found->at("secret").get<std::string>(),
                   .announcement = found->at("announcement").get<std::string>()};
    // Without a secret anybody could be at the other end.
    if (link.secret.size() < link_secret_bytes_min)
        throw Error{ErrorCode::data_loss, "the secret of a link is too short"};
    return link;
}

}    // namespace

std::filesystem::path begun_file(std::filesystem::path order) {
    return order.replace_extension(begun_ending);
}

std::string to_text(const StartOrder& order) {
    Json text{{"program", order.program.string()}, {"arguments", order.arguments},
              {"environment", order.environment},  {"folder", order.folder.string()},
              {"output", order.output.string()},   {"result", order.result.string()},
              {"lock", order.lock.string()},       {"members", order.members}};
    if (order.link) text["link"] = json_of(*order.link);
    return text.dump();
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
                          .members = stored.value("members", 1),
                          .link = read_link(stored)};
    } catch (const Json::exception&) {
        return std::nullopt;    // a member is missing, or is something else
    } catch (const Error&) {
        return std::nullopt;
    }
}

}    // namespace slipway
