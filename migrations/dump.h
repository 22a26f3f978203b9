#pragma once

#include <filesystem>
#include <string>

#include "api/base/clock.h"

namespace slipway::migrations {

struct DumpFile {
    std::string database;          ///< as in StoreOptions
    std::filesystem::path path;    ///< its folder is there
    std::string snapshot{};        ///< that another session exports; empty: of now
    /// Folder of PostgreSQL's versions, each with bin/pg_dump. Else pg_dump of /usr/bin.
    std::filesystem::path installed = "/usr/lib/postgresql";
};

/// Writes a dump of the whole database, to be read by pg_restore, of mode 0600. One that fails
/// leaves nothing.
/// errors  throws Error{unavailable} with the way out: the disk has less room than the database
///         takes, pg_dump is not installed or fails
void write_dump(const DumpFile& file);

struct RestoredDump {
    std::string database;    ///< as in StoreOptions
    std::filesystem::path path;
    std::filesystem::path messages;    ///< for what pg_restore prints; removed
    std::filesystem::path installed = "/usr/lib/postgresql";    ///< as in DumpFile
};

/// "20261120T203700Z": for names of dumps and backups.
std::string to_compact_time(Instant instant);

/// Restores a dump in one transaction.
/// errors  throws Error{conflict} when the database has tables, unavailable when pg_restore is not
///         installed or fails: the database is as it was
void restore_dump(const RestoredDump& dump);

struct DumpOptions {
    std::string database;            ///< as in StoreOptions
    std::filesystem::path folder;    ///< made when absent, for its owner alone
    std::string version;             ///< of the program that migrates
    Instant at;
    std::filesystem::path installed = "/usr/lib/postgresql";    ///< as in DumpFile
};

/// Dumps before a migration: before-VERSION-TIME.dump in the folder. Returns its path. What a
/// killed process left there, the next dump deletes. errors  throws Error{unavailable}, as
/// write_dump
std::filesystem::path dump_database(const DumpOptions& options);

}    // namespace slipway::migrations
