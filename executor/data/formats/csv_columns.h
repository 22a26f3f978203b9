#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "executor/data/dataset.h"

namespace slipway {

/// The columns that the features of a csv dataset are, in their order: those of the options, or
/// all of the first file but labels and group.
/// errors  as open_dataset
std::vector<std::string> csv_feature_columns(const std::filesystem::path& path,
                                             const DatasetOptions& options);

}    // namespace slipway
