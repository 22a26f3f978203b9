#pragma once

#include <cstddef>
#include <filesystem>

namespace slipway {

/// How far the removal of a path has come.
enum class Removal {
    done,     ///< nothing is left
    more,     ///< something went; go on
    stuck,    ///< nothing could be removed
};

/// Removes what is below `path` and then itself, with at most about `entries_max` steps. For large
/// folders in several calls. Links are removed, not followed, `path` itself included. Whatever a
/// process left there goes: folders nested deeper than a path can name, names of any bytes, folders
/// without any rights (when they are ours). Few descriptors, no memory that grows.
Removal remove_some(const std::filesystem::path& path, std::size_t entries_max);

}    // namespace slipway
