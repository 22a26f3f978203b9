#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "api/spec/dataset_root.h"
#include "scheduler/artifacts/artifact_store.h"

namespace slipway {

/// Where a dataset's bytes are.
struct DatasetLocation {
    std::filesystem::path path;      ///< the folder or file that is read
    std::filesystem::path upload;    ///< what is unpacked into `path` first; empty: nothing
    std::string upload_id;
    std::string filename;    ///< of an upload; "data" when it has none
};

/// Whose dataset, and what it may lie below.
struct DatasetReach {
    std::string project;
    const std::vector<DatasetRoot>& roots;
};

/// Finds it from the stored source: {"path": …} lies below a root that is open to the project (the
/// first that has it) or is absolute and below one of them; {"upload": …, "filename": …} is
/// unpacked to the artifact of the dataset. None when the source is neither or leads out of the
/// roots.
std::optional<DatasetLocation> find_dataset_location(const std::string& source,
                                                     const std::string& id,
                                                     const ArtifactStore& artifacts,
                                                     const DatasetReach& reach);

}    // namespace slipway
