#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "api/base/log.h"
#include "api/base/log_format.h"
#include "api/spec/dataset_root.h"
#include "scheduler/store/retention.h"
#include "server/routes/tenant_limits.h"

namespace slipway {

enum class Command {
    serve,
    agent,
    migrate,
    login_link,
    doctor,
    node_check,
    verify,
    backup,
    restore,
    version
};

/// Whether executors are confined: not at all; with what the machine can enforce; or not without
/// everything that `slipwayd doctor` lists as enforceable by some machine, but disk quotas.
enum class ConfinementMode { off, best_effort, required };

/// What runs the attempts of jobs.
enum class LauncherKind { local, slurm };

/// The pool of hosts whose attempts are jobs of Slurm, unless the operator names another one.
inline constexpr const char* slurm_pool = "slurm";

/// The whole command line of slipwayd, checked.
struct Options {
    Command command = Command::serve;
    std::string home;    ///< as given; see home_folder()
    std::string database;
    LogLevel log_level = LogLevel::info;
    std::uint64_t log_bytes_max = std::uint64_t{64} << 20;    ///< of one log file
    int log_files = 5;                                        ///< the one written to among them

    // serve, agent
    std::vector<std::string> addresses = {"127.0.0.1"};
    std::uint16_t port = 8470;
    int cores = 8;
    int virtual_hosts = 1;       ///< that this machine is, of `cores` each
    int slurm_hosts = 0;         ///< beside them, whose attempts are jobs of Slurm
    std::string pool;            ///< of the virtual hosts; empty: see pool_of_hosts()
    std::string default_pool;    ///< of jobs that name none; empty: see default_pool_of()
    std::vector<std::string> time_limits;    ///< POOL=SECONDS; see time_limits_of()
    std::string slice_address;    ///< where members of slices connect to; empty: find_slice_address
    bool allow_public_slice_address = false;
    std::vector<DatasetRoot> dataset_roots;    ///< absolute, resolved
    std::filesystem::path executor;            ///< absolute
    std::chrono::seconds executor_grace{60};
    std::chrono::seconds start_max{20};    ///< until an executor's first word
    LauncherKind launcher = LauncherKind::local;
    std::string slurm_partition;    ///< empty: Slurm's default
    std::string slurm_options;      ///< of sbatch, parse_batch_options()
    std::string slurm_address;      ///< where nodes of Slurm connect to; empty: they are here
    int slurm_port = 0;             ///< 0: the system chooses one
    bool allow_public_slurm_address = false;
    int executor_niceness = 5;                                  ///< 0 to 19
    std::int64_t decoded_bytes_max = std::int64_t{32} << 30;    ///< see AgentOptions
    std::chrono::seconds warm_executors{60};    ///< that one waits for another attempt; 0: none do
    std::int64_t frames_mib = 1024;             ///< of one attempt; 0: no limit
    std::int64_t metric_names_max = 1000;       ///< of one job; 0: no limit
    ConfinementMode confinement = ConfinementMode::best_effort;
    std::uint32_t executor_user_base = 1'900'000'000;
    std::string cgroup = "auto";          ///< find_cgroup_tree()
    std::int64_t job_memory_bytes = 0;    ///< of all jobs of this machine together; 0: nine tenths
    std::string certificate_file;
    std::string private_key_file;
    bool insecure = false;    ///< plain HTTP on an address that others reach
    std::vector<std::string> trusted_proxies;
    std::vector<std::string> public_names;
    std::size_t buffered_body_bytes = std::size_t{64} << 20;
    std::size_t buffered_answer_bytes = std::size_t{256} << 20;
    std::vector<std::string> webhook_allow;    ///< networks, beside public addresses
    std::int64_t webhook_log_days = 30;
    std::string ready_file;
    std::string host_name;     ///< this machine's name in the database
    std::string join_token;    ///< sha256 of the one that it joins with; empty: none
    bool drain = false;
    std::int64_t audit_days = 400;
    store::RetentionPolicy retention;
    LogFormat log_format = LogFormat::text;
    std::uint64_t upload_bytes_max = std::uint64_t{16} << 30;
    TenantLimits limits;

    // migrate
    std::string migrate_action = "up";    ///< up, down or status
    bool migrate_dumps = true;            ///< the database, before its schema changes

    // verify
    bool verify_files = false;

    // backup: the folder to make it in; restore: the backup
    std::string backup_folder;

    // login-link
    std::chrono::seconds link_keep{600};
    std::string link_host;    ///< empty, like no port: where the home folder's service answers
    std::optional<std::uint16_t> link_port;
};

/// What the command line asks for; or how to exit at once (after --help, or with what is wrong on
/// stderr).
struct ParsedOptions {
    std::optional<Options> options;
    int exit_status = 0;
};
/// This machine's name.
std::string machine_name();

ParsedOptions parse_options(int argc, const char* const* argv);

}    // namespace slipway
