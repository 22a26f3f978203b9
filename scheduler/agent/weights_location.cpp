#include "scheduler/agent/weights_location.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "api/base/id.h"
#include "api/base/json.h"
#include "scheduler/agent/run_folder.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/datasets.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

/// The text at a place of a stored document; empty when there is none.
std::string text_at(const char* place, const std::string& document) {
    const Json parsed = Json::parse(document, nullptr, false);
    const Json::json_pointer pointer(place);
    if (!parsed.is_object() || !parsed.contains(pointer)) return {};
    const Json& text = parsed.at(pointer);
    return text.is_string() ? text.get<std::string>() : std::string();
}

std::vector<std::string> payload_checkpoint_ids(const std::string& payload) {
    const Json parsed = Json::parse(payload, nullptr, false);
    const Json::json_pointer several("/from/checkpoints");
    if (parsed.is_object() && parsed.contains(several))
        return parsed.at(several).get<std::vector<std::string>>();
    std::string one = text_at("/from/checkpoint", payload);
    if (one.empty()) return {};
    return {std::move(one)};
}

std::optional<fs::path> checkpoint_location(store::Store& store, const std::string& id,
                                            const ArtifactStore& artifacts) {
    const auto checkpoint = store::find_checkpoint(store, id);
    if (!checkpoint || checkpoint->deleted_at) return std::nullopt;
    return artifacts.locate(Artifact::checkpoint, checkpoint->job_id, checkpoint->name);
}

std::optional<fs::path> upload_location(store::Store& store, const std::string& id,
                                        const ArtifactStore& artifacts) {
    const auto upload = is_id("upl", id) ? store::find_upload(store, id) : std::nullopt;
    if (!upload || !upload->complete) return std::nullopt;
    return artifacts.locate(Artifact::upload, upload->id);
}

}    // namespace

std::optional<fs::path> find_weights_location(store::Store& store, const std::string& spec,
                                              const ArtifactStore& artifacts) {
    const std::string from = text_at("/model/init/from", spec);
    if (from.empty()) return fs::path();
    if (is_id("ckp", from)) return checkpoint_location(store, from, artifacts);
    return upload_location(store, from, artifacts);
}

std::optional<fs::path> find_network_location(store::Store& store, const std::string& spec,
                                              const ArtifactStore& artifacts) {
    const std::string from = text_at("/model/from", spec);
    return from.empty() ? fs::path() : upload_location(store, from, artifacts);
}

std::optional<std::vector<fs::path>> find_payload_checkpoints(store::Store& store,
                                                              const std::string& payload,
                                                              const ArtifactStore& artifacts) {
    std::vector<fs::path> locations;
    for (const std::string& id : payload_checkpoint_ids(payload)) {
        auto location = checkpoint_location(store, id, artifacts);
        if (!location) return std::nullopt;
        locations.push_back(std::move(*location));
    }
    return locations;
}

}    // namespace slipway
