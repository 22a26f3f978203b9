#pragma once

#include <chrono>
#include <filesystem>
#include <span>
#include <string>

#include "api/base/clock.h"
#include "executor/data/dataset.h"

namespace slipway {

/// All options that a dataset is read with, in words; the same words mean the same options.
std::string describe(const DatasetOptions& options);

/// What tells one content of a dataset's files from another without reading them: names, sizes,
/// inodes, times of change.
struct FileFacts {
    std::string text;
    /// A file was changed less than `settled_after` ago: another change could have the same time.
    bool is_fresh = false;
};

/// Of the file `path`, or of all files below the folder.
/// errors  throws unavailable when one cannot be looked at, not_found without `path`
FileFacts facts_of_files(const std::filesystem::path& path, std::chrono::seconds settled_after);
/// Of these files below `path`, or of `path` where it is a file, which were read at `read_since` or
/// later: as they were then, unless one is fresh.
FileFacts facts_of_files(const std::filesystem::path& path, std::span<const std::string> names,
                         std::chrono::seconds settled_after, Instant read_since);

}    // namespace slipway
