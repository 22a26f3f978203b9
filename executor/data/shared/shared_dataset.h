#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "executor/data/dataset.h"
#include "executor/data/shared/use_copy.h"

namespace slipway {

/// Opens a dataset as open_dataset() does. What it would keep in memory of the samples lies in a
/// copy that is mapped, where one is found or can be made: in memory once, however many processes
/// read it, and the same to the bit. Formats whose samples are image files keep nothing there.
/// errors  as open_dataset
std::unique_ptr<Dataset> open_shared_dataset(std::string_view format,
                                             const std::filesystem::path& path,
                                             const DatasetOptions& options,
                                             const SharingOptions& sharing,
                                             SharingOutcome& outcome);

}    // namespace slipway
