#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/store/cluster/process.h"

namespace slipway::store {

/// Where a private cluster keeps what.
struct ClusterLayout {
    std::filesystem::path folder;    ///< home/postgres
    std::filesystem::path data;      ///< the cluster itself
    std::filesystem::path log;
    std::filesystem::path lock;       ///< held by the slipwayd that owns the cluster
    std::filesystem::path sockets;    ///< folder of the Unix socket
};

/// The sockets are below the home folder when their path fits into an address, else in a folder of
/// /run (as root) or of the temporary folder, named after the home folder.
ClusterLayout layout_of(const std::filesystem::path& home);

/// The folder with initdb and postgres: of the version of the existing cluster, else the newest
/// under /usr/lib/postgresql. `wanted` overrides. Throws Error{invalid_argument} with the way out
/// when there are none, or none of the existing cluster's version.
std::filesystem::path find_tools(const ClusterLayout& layout, const std::filesystem::path& wanted);

/// Makes the folders, mode 0700, owned by the account. Throws Error{invalid_argument} naming the
/// first folder that the account cannot enter, with the way out.
void make_folders(const ClusterLayout& layout, const std::optional<Account>& account);

/// Makes the cluster when it is absent: wholly or not at all, even when interrupted. True: it was.
bool create_cluster(const ClusterLayout& layout, const std::filesystem::path& tools,
                    const std::optional<Account>& account, bool durable);

/// The postmaster that runs on this data folder: postmaster.pid names it, and the process is a
/// postgres that works in this folder. Nothing when there is none.
std::optional<pid_t> find_postmaster(const ClusterLayout& layout);

/// Processes whose working folder is the data folder: the postmaster and its children.
std::vector<pid_t> processes_in(const std::filesystem::path& data);

/// Clears what a dead postmaster left behind: waits until its last processes are gone, then removes
/// lock files whose process id belongs to another process now, which would keep PostgreSQL from
/// starting. Throws Error{unavailable} when they do not go.
void clear_remains(const ClusterLayout& layout);

/// The command that runs it in the foreground.
Command postmaster_command(const ClusterLayout& layout, const std::filesystem::path& tools,
                           const std::optional<Account>& account, bool durable);

/// The command that runs statements from its stdin as the superuser, each up to a semicolon and an
/// empty line, while no postmaster runs. One that is refused keeps none of the others from running.
Command single_user_command(const ClusterLayout& layout, const std::filesystem::path& tools,
                            const std::optional<Account>& account, bool durable,
                            const std::string& database);

/// libpq's key=value text for a database of the cluster.
std::string address_of(const ClusterLayout& layout, const std::string& database,
                       const std::string& role = "slipway");

/// The last lines of the log, for an error message.
std::string end_of_log(const ClusterLayout& layout);

}    // namespace slipway::store
