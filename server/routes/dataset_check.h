#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "api/spec/dataset_root.h"
#include "api/spec/field.h"

namespace slipway {

/// What is wrong with the folder that a dataset of `project` is to be made from; none: it lies
/// below a root that is open to the project. Links are followed: what counts is where the path
/// really is. What other roots have is not told.
std::vector<Problem> check_dataset_path(const std::string& path, std::string_view project,
                                        const std::vector<DatasetRoot>& roots);

}    // namespace slipway
