#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "scheduler/artifacts/artifact_store.h"
#include "scheduler/store/store.h"

namespace slipway {

/// Where the manifest of a stored split is; an empty path: the job has none.
struct SplitLocation {
    std::filesystem::path path;
    std::string hash;    ///< that its bytes must have
};

/// By data.split.id of a job's stored spec. Nothing when it is no longer kept.
std::optional<SplitLocation> find_split_location(store::Store& store, const std::string& spec,
                                                 const ArtifactStore& artifacts);

}    // namespace slipway
