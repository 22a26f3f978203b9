#pragma once

#include <filesystem>
#include <string>

#include "api/base/clock.h"

namespace slipway::migrations {

struct DumpOptions {
    std::string database;            ///< as in StoreOptions
    std::filesystem::path folder;    ///< made when absent, for its owner alone
    std::string version;             ///< of the program that migrates
    Instant at;
    /// Folder of PostgreSQL's versions, each with bin/pg_dump. Else pg_dump of /usr/bin.
    std::filesystem::path installed = "/usr/lib/postgresql";
};

/// Writes a dump of the whole database, to be read by pg_restore: before-VERSION-TIME.dump in the
/// folder, of mode 0600. Returns its path. A dump that fails leaves nothing; what a killed process
/// left there, the next dump deletes.
/// errors  throws Error{unavailable} with the way out: the disk has less room than the database
///         takes, pg_dump is not installed or fails
std::filesystem::path dump_database(const DumpOptions& options);

}    // namespace slipway::migrations
