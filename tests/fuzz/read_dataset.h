#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "executor/data/dataset.h"

namespace slipway {

/// Inspects a dataset as an import does, then opens it and reads every sample as a training run
/// does, and says what the inspection found: "3 samples of 2 classes", or its problems, one a line.
/// A broken invariant: the two do not agree, a problem does not name its file, or an Error is ours
/// (internal).
std::string read_dataset(std::string_view format, const std::filesystem::path& folder,
                         const DatasetOptions& options = {});

}    // namespace slipway
