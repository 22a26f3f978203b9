#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "api/spec/dataset_format.h"

namespace slipway {

/// How much an archive may hold, how sure its files are, and what is an archive.
struct UnpackLimits {
    std::int64_t bytes_max = std::int64_t{16} << 30;    ///< of all files together
    std::int64_t entries_max = 1'000'000;               ///< files, and folders whether named or not
    std::int64_t depth_max = 32;                        ///< folders around a file
    std::int64_t ratio_max = 100;    ///< unpacked bytes to archive bytes, once over 64 MiB
    std::int64_t free_bytes_min = std::int64_t{1} << 30;    ///< that stay free on the disk
    std::int64_t free_inodes_percent_min = 5;               ///< of those that the disk has
    bool durable = true;    ///< on the disk before the folder appears; false: for scratch
    KeptArchive kept = KeptArchive::none;    ///< such an archive is data: it is kept as it is
};

struct UnpackReport {
    std::int64_t files = 0;
    std::int64_t bytes = 0;
    bool archive = false;    ///< false: a single file, kept as it is
};

/// Unpacks an uploaded file into `folder`, which must not exist; it appears complete or not at all.
/// Zip, tar and gzipped tar are known by their content; anything else (also a lone .gz) is one file
/// and kept under `name`. Files end with mode 0644. An archive that holds one folder and nothing
/// else is unpacked without that folder. Hidden files and __MACOSX are left out.
/// errors  data_loss for a damaged archive, an absolute path, `..`, a link or device, a name twice
///         or one that is not UTF-8 (the message names the entry, escaped); exhausted over a limit
///         or with the disk full but for what must stay free; invalid_argument for a `name` that is
///         no plain file name
UnpackReport unpack(const std::filesystem::path& upload, const std::string& name,
                    const std::filesystem::path& folder, const UnpackLimits& limits = {});

}    // namespace slipway
