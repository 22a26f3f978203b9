#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

/// A folder whose subfolders may be datasets, and of whom.
struct DatasetRoot {
    std::filesystem::path path;                ///< absolute and without links, once it is in use
    std::vector<std::string> projects = {};    ///< empty: all
};

/// Reads "DIR" or "PROJECT,PROJECT=DIR". A folder with = in its name is written with a / before it.
/// errors  throws invalid_argument naming what is no project's name
DatasetRoot parse_dataset_root(std::string_view text);

/// True for the root itself and for everything below it. Both are absolute and without links.
bool is_below(const std::filesystem::path& place, const std::filesystem::path& root);

/// True when `project` may read `place` (absolute, without links) as a dataset: the innermost root
/// around it is open to the project, and no root within it is closed to the project.
bool may_read(const std::filesystem::path& place, std::string_view project,
              const std::vector<DatasetRoot>& roots);

/// The roots that are open to `project`, in their order.
std::vector<DatasetRoot> roots_open_to(std::string_view project,
                                       const std::vector<DatasetRoot>& roots);

}    // namespace slipway
