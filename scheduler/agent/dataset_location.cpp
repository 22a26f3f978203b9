#include "scheduler/agent/dataset_location.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "api/base/json.h"
#include "scheduler/artifacts/below.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

std::optional<fs::path> find_below_roots(const std::string& path, const DatasetReach& reach) {
    for (const DatasetRoot& root : roots_open_to(reach.project, reach.roots)) {
        const auto place =
            fs::path(path).is_absolute() ? std::optional<fs::path>(path) : below(root.path, path);
        std::error_code missing;
        const fs::path real = place ? fs::canonical(*place, missing) : fs::path();
        // Links inside a root may lead out of it: what counts is where the path really is.
        if (place && !missing && is_below(real, root.path) &&
            may_read(real, reach.project, reach.roots))
            return place;
    }
    return std::nullopt;
}

}    // namespace

std::optional<DatasetLocation> find_dataset_location(const std::string& source,
                                                     const std::string& id,
                                                     const ArtifactStore& artifacts,
                                                     const DatasetReach& reach) {
    const Json parsed = Json::parse(source, nullptr, false);
    if (!parsed.is_object()) return std::nullopt;
    if (const auto path = parsed.find("path"); path != parsed.end() && path->is_string()) {
        const auto found = find_below_roots(path->get<std::string>(), reach);
        if (!found) return std::nullopt;
        return DatasetLocation{.path = *found, .upload = {}, .upload_id = {}, .filename = {}};
    }
    const auto upload = parsed.find("upload");
    if (upload == parsed.end() || !upload->is_string()) return std::nullopt;
    const auto upload_id = upload->get<std::string>();
    const auto file = below(artifacts.folder(Artifact::upload), upload_id);
    if (!file) return std::nullopt;
    const auto filename = parsed.find("filename");
    const bool is_named = filename != parsed.end() && filename->is_string();
    return DatasetLocation{.path = artifacts.locate(Artifact::dataset, id),
                           .upload = *file,
                           .upload_id = upload_id,
                           .filename = is_named ? filename->get<std::string>() : "data"};
}

}    // namespace slipway
