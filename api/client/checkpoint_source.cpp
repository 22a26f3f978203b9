#include "api/client/checkpoint_source.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "api/base/id.h"

namespace slipway::client {

Json checkpoint_source(const std::string& from, const std::string& checkpoint) {
    if (from.find(',') != std::string::npos) {
        Json ids = Json::array();
        std::istringstream list(from);
        for (std::string id; std::getline(list, id, ',');)
            ids.push_back(id);
        return {{"checkpoints", std::move(ids)}};
    }
    if (is_id("ckp", from)) return {{"checkpoint", from}};
    const char* owner = is_id("cv", from) ? "cross_validation" : "job";
    return {{owner, from}, {"checkpoint", checkpoint}};
}

}    // namespace slipway::client
