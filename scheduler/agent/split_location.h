#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "scheduler/store/store.h"

namespace slipway {

/// Where the manifest of a stored split is; an empty path: the job has none.
struct SplitLocation {
    std::filesystem::path path;
    std::string hash;    ///< that its bytes must have
};

/// home/store/splits/<id>.json.
std::filesystem::path manifest_path(const std::filesystem::path& home, const std::string& split_id);

/// By data.split.id of a job's stored spec. Nothing when it is no longer kept.
std::optional<SplitLocation> find_split_location(store::Store& store, const std::string& spec,
                                                 const std::filesystem::path& home);

}    // namespace slipway
