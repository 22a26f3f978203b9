#pragma once

#include <span>
#include <string>
#include <vector>

namespace slipway {

/// Where the address of a database may stand.
struct DatabaseSources {
    std::string given = {};                         ///< --database, or the configuration file
    std::string file = {};                          ///< --database-file
    std::string environment = {};                   ///< SLIPWAY_DATABASE
    std::span<const char* const> arguments = {};    ///< the command line, which every user can read
    std::vector<std::string> config_files = {};     ///< what `given` may have been read from
};

/// The address of the operator's database; empty: the private one. --database wins, then
/// --database-file, then SLIPWAY_DATABASE.
/// errors  throws invalid_argument, without the address: --database and --database-file at once; a
///         file that cannot be read, is empty, not ours or root's, or open to other users; a
///         password on the command line, or in a configuration file that is open to other users
std::string database_address(const DatabaseSources& sources);

}    // namespace slipway
