#include "scheduler/agent/split_location.h"

#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/json.h"
#include "scheduler/store/splits.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

/// data.split.id; empty when there is none.
std::string split_id_of(const std::string& spec) {
    const Json parsed = Json::parse(spec, nullptr, false);
    const Json::json_pointer place("/data/split/id");
    if (!parsed.is_object() || !parsed.contains(place)) return {};
    const Json& id = parsed.at(place);
    return id.is_string() ? id.get<std::string>() : std::string();
}

}    // namespace

std::optional<SplitLocation> find_split_location(store::Store& store, const std::string& spec,
                                                 const ArtifactStore& artifacts) {
    const std::string id = split_id_of(spec);
    if (id.empty()) return SplitLocation{};
    const auto split = is_id("spl", id) ? store::find_split(store, id) : std::nullopt;
    if (!split || split->state != store::SplitState::ready) return std::nullopt;
    return SplitLocation{.path = artifacts.locate(Artifact::split, id), .hash = split->hash};
}

}    // namespace slipway
