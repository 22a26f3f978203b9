#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace slipway {

inline constexpr const char* list_name = "files.ndjson";

/// How far a copy has come.
struct CopyCounts {
    std::int64_t files = 0;
    std::int64_t bytes = 0;
};
using CopyProgress = std::function<void(const CopyCounts&)>;

/// What was copied into a backup.
struct SavedFiles {
    CopyCounts counts;
    std::map<std::string, std::string> digests;    ///< path below the home -> SHA-256; '' = folder
    std::vector<std::string> skipped;              ///< links, and what could not be read
};

/// Copies what a home folder keeps into `backup`/files: the store without its caches and without
/// checkpoints that are not in `checkpoints` (jobs may save faster than they are copied),
/// admin-token and host.id. `backup`/files.ndjson lists each file and folder with its mode, owner
/// and SHA-256. Files may come and go meanwhile. Links are not followed. errors  throws exhausted
/// when the disk is full, unavailable when the backup cannot be written
///   checkpoints  their folders below the home: store/checkpoints/<job>/<name>
SavedFiles save_files(const std::filesystem::path& home, const std::filesystem::path& backup,
                      const std::set<std::string>& checkpoints, const CopyProgress& on_progress);

/// Copies the files back, with their modes, and as root with their owners.
/// errors  throws data_loss for a file that is missing or is not the one that was saved; exhausted,
///         unavailable
CopyCounts restore_files(const std::filesystem::path& backup, const std::filesystem::path& home,
                         const CopyProgress& on_progress);

/// Until everything that was written to the file system of `folder` is on its disk.
/// errors  throws exhausted, unavailable
void sync_files(const std::filesystem::path& folder);

}    // namespace slipway
