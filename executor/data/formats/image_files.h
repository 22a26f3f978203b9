#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "executor/data/dataset.h"

namespace slipway {

/// What image_folder and image_csv have found: an index without feature_dims, and the files.
struct ImageList {
    DatasetIndex index;
    std::vector<std::string> names;          ///< per sample, relative to the folder
    std::vector<std::string> other_files;    ///< the table, for the content hash
};

/// A dataset of images that are files of their own, below `folder`.
/// errors  DataError when the first image cannot be read; not_found without folder
std::unique_ptr<Dataset> open_image_files(const std::filesystem::path& folder, ImageList list,
                                          const DatasetOptions& options,
                                          const ProblemLog& problems);

}    // namespace slipway
