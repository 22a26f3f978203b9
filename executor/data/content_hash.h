#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "executor/data/dataset.h"

namespace slipway {

/// All files of a dataset as one number.
struct ContentHash {
    std::int64_t bytes = 0;
    std::string hash;    ///< "sha256:…" over names and contents, in the order of the names' bytes
};

/// Reads every file once, on `threads` threads. `path` is the dataset's folder or file, `files`
/// are relative to the folder.
/// errors  not_found, unavailable
ContentHash hash_content(const std::filesystem::path& path, std::vector<std::string> files,
                         int threads);

/// "sha256:…" over what can be told without reading: names and sizes of the files, and which
/// samples are where. The same as long as sample i is the same sample.
/// errors  not_found
std::string hash_sample_list(const std::filesystem::path& path, const Dataset& dataset);

}    // namespace slipway
