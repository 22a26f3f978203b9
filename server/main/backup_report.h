#pragma once

#include <filesystem>
#include <string>

#include "api/base/clock.h"
#include "server/main/backup_files.h"

namespace slipway {

inline constexpr const char* dump_name = "database.dump";
inline constexpr int backup_format = 1;

/// backup.json, which is written last: a folder without it is no backup.
struct BackupReport {
    int format = 0;
    std::string version;    ///< of the program that made it
    int schema = 0;         ///< the newest step of the database
    Instant at;
    CopyCounts counts;
    std::string dump_sha256;
    std::string list_sha256;
};

void write_report(const std::filesystem::path& backup, const BackupReport& report);

/// Of a backup that this program can restore, with dump and list as they were written.
/// errors  throws not_found: the folder has no backup; conflict: it is of a newer program;
///         data_loss: it is damaged
BackupReport read_report(const std::filesystem::path& backup);

}    // namespace slipway
