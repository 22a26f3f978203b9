#include "scheduler/store/cluster/layout.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <set>

#include "api/base/clock.h"
#include "api/base/error.h"
#include "api/base/posix.h"
#include "api/base/sha256.h"

// The private PostgreSQL lives in the home folder: data, socket and log. Its postmaster.pid says
// whether an earlier one still works there. Each step that can fail for a reason of the machine (a
// home that its user cannot enter, data of another major version, no package) is checked before
// PostgreSQL is started, because its own message would not name the remedy.
namespace slipway::store {

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// An address holds 107 bytes; the socket's name takes the last 14 ("/.s.PGSQL.5432").
constexpr std::size_t socket_folder_bytes_max = 92;
constexpr std::string_view installed = "/usr/lib/postgresql";

std::string first_line(const fs::path& path, int line = 1) {
    std::ifstream file(path);
    std::string text;
    for (int i = 0; i < line; ++i)
        std::getline(file, text);
    return text;
}

int number_or_zero(std::string_view text) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

bool has_tools(const fs::path& folder) {
    return access((folder / "initdb").c_str(), X_OK) == 0 &&
           access((folder / "postgres").c_str(), X_OK) == 0;
}

/// Major versions installed, ascending.
std::set<int> installed_versions() {
    std::set<int> versions;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(installed, none)) {
        const int version = number_or_zero(entry.path().filename().string());
        if (version > 0 && has_tools(entry.path() / "bin")) versions.insert(version);
    }
    return versions;
}

fs::path tools_of(int version) {
    return fs::path(installed) / std::to_string(version) / "bin";
}

void own_folder(const fs::path& folder, const std::optional<Account>& account) {
    std::error_code problem;
    fs::create_directory(folder, problem);
    struct stat found {};
    const uid_t owner = account ? account->uid : geteuid();
    const bool ours = lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
                      (found.st_uid == owner || geteuid() == 0);
    if (!ours || (account && chown(folder.c_str(), account->uid, account->gid) != 0) ||
        chmod(folder.c_str(), 0700) != 0) {
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("{} cannot be made a folder of our own: {}; choose another --home",
                                folder.string(), problem ? problem.message() : "it is not ours")};
    }
}

/// initdb syncs its 1,000 files one by one, which takes 2 s on a disk where syncfs takes 0.1.
void sync_folder(const fs::path& folder, int (*sync)(int)) {
    const UniqueFd opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened || sync(opened.get()) != 0)
        throw Error{ErrorCode::unavailable,
                    fmt::format("{} cannot be synced: {}", folder.string(), std::strerror(errno))};
}

std::string quoted(const std::string& value) {
    std::string text = "'";
    for (const char c : value) {
        if (c == '\'' || c == '\\') text += '\\';
        text += c;
    }
    return text + "'";
}

}    // namespace

ClusterLayout layout_of(const fs::path& home) {
    const fs::path folder = fs::absolute(home) / "postgres";
    fs::path sockets = folder / "run";
    if (sockets.string().size() > socket_folder_bytes_max) {
        const std::string mark = sha256_hex(folder.string()).substr(0, 16);
        const fs::path base = geteuid() == 0 ? fs::path("/run") : fs::path("/tmp");
        sockets = base / fmt::format("slipway-{}-{}", geteuid(), mark);
    }
    return {folder, folder / "data", folder / "log", folder / "lock", sockets};
}

fs::path find_tools(const ClusterLayout& layout, const fs::path& wanted) {
    // Tools of the operator's choice are not second-guessed: postgres refuses foreign data itself.
    if (!wanted.empty() && has_tools(wanted)) return wanted;
    const std::set<int> versions = installed_versions();
    if (!wanted.empty() || versions.empty()) {
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("no PostgreSQL is installed under {}: install the package "
                                "postgresql, or use --database",
                                wanted.empty() ? installed : wanted.string())};
    }
    const std::string existing = first_line(layout.data / "PG_VERSION");
    if (existing.empty()) return tools_of(*versions.rbegin());
    if (versions.contains(number_or_zero(existing))) return tools_of(number_or_zero(existing));
    throw Error{ErrorCode::invalid_argument,
                fmt::format("the cluster in {0} belongs to PostgreSQL {1}, and installed is {2}: "
                            "install postgresql-{1}, or move the data with pg_upgrade, or choose "
                            "another --home",
                            layout.data.string(), existing, fmt::join(versions, ", "))};
}

void make_folders(const ClusterLayout& layout, const std::optional<Account>& account) {
    std::error_code problem;
    fs::create_directories(layout.folder.parent_path(), problem);
    if (problem) {
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("cannot make {}: {}; choose another --home",
                                layout.folder.parent_path().string(), problem.message())};
    }
    if (account) {
        if (const auto closed = first_closed_folder(layout.folder.parent_path(), *account)) {
            throw Error{ErrorCode::invalid_argument,
                        fmt::format("the user {0} runs the private PostgreSQL and cannot enter "
                                    "{1}: run \"chmod o+x {1}\", or choose another --home such as "
                                    "/var/lib/slipway",
                                    account->name, closed->string())};
        }
    }
    own_folder(layout.folder, account);
    own_folder(layout.sockets, account);
}

bool create_cluster(const ClusterLayout& layout, const fs::path& tools,
                    const std::optional<Account>& account, bool durable) {
    if (fs::exists(layout.data / "PG_VERSION")) return false;
    // Beside its place first: an interrupted initdb leaves nothing that looks like a cluster.
    const fs::path fresh = layout.folder / "data.new";
    fs::remove_all(fresh);
    Command command{.words = {(tools / "initdb").string(), "--pgdata=" + fresh.string(),
                              "--username=slipway", "--auth=trust", "--encoding=UTF8",
                              "--locale=C.UTF-8", "--no-instructions", "--no-sync"},
                    .account = account,
                    .output = layout.log};
    if (durable) command.words.emplace_back("--data-checksums");
    // A smaller log: tests copy their cluster.
    if (!durable) command.words.emplace_back("--wal-segsize=1");
    if (run_process(command) != 0) {
        throw Error{ErrorCode::unavailable, fmt::format("initdb could not make {}: {}",
                                                        layout.data.string(), end_of_log(layout))};
    }
    if (durable) sync_folder(fresh, syncfs);
    fs::rename(fresh, layout.data);
    if (durable) sync_folder(layout.folder, fsync);
    return true;
}

std::optional<pid_t> find_postmaster(const ClusterLayout& layout) {
    const int pid = number_or_zero(first_line(layout.data / "postmaster.pid"));
    if (pid <= 1) return std::nullopt;
    const fs::path process = fmt::format("/proc/{}", pid);
    std::error_code problem;
    const fs::path folder = fs::read_symlink(process / "cwd", problem);
    const bool ours = !problem && folder == fs::weakly_canonical(layout.data) &&
                      first_line(process / "comm") == "postgres";
    if (!ours) return std::nullopt;
    return pid;
}

std::vector<pid_t> processes_in(const fs::path& data) {
    std::vector<pid_t> pids;
    const fs::path real = fs::weakly_canonical(data);
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc", none)) {
        const int pid = number_or_zero(entry.path().filename().string());
        if (pid > 0 && fs::read_symlink(entry.path() / "cwd", none) == real) pids.push_back(pid);
    }
    return pids;
}

void clear_remains(const ClusterLayout& layout) {
    constexpr milliseconds patience{15000};
    const Tick deadline = system_clock().tick() + patience;
    // The postmaster's children notice its death and end; a new one must not meet them.
    for (std::vector<pid_t> left = processes_in(layout.data); !left.empty();
         left = processes_in(layout.data)) {
        if (system_clock().tick() > deadline) {
            throw Error{ErrorCode::unavailable,
                        fmt::format("processes of an earlier PostgreSQL still work in {}: {}",
                                    layout.data.string(), fmt::join(left, ", "))};
        }
        wait_for_end(left.front(), milliseconds{1000});
    }
    const fs::path lock = layout.data / "postmaster.pid";
    const int pid = number_or_zero(first_line(lock));
    if (pid > 1 && kill(pid, 0) == 0) {
        fs::remove(lock);
        fs::remove(layout.sockets / ".s.PGSQL.5432.lock");
    }
}

Command postmaster_command(const ClusterLayout& layout, const fs::path& tools,
                           const std::optional<Account>& account, bool durable) {
    Command command{.words = {(tools / "postgres").string(), "-D", layout.data.string()},
                    .account = account,
                    .output = layout.log};
    std::vector<std::string> settings{
        "listen_addresses=", "port=5432", "unix_socket_directories=" + layout.sockets.string(),
        "unix_socket_permissions=0700", "cluster_name=slipway", "max_connections=100",
        "logging_collector=off", "log_destination=stderr", "log_line_prefix=%m [%p] %q%a ",
        "log_timezone=UTC",
        // Whoever sends requests decides what statements and the
        // details of errors hold.
        "log_min_error_statement=panic", "log_error_verbosity=terse", "timezone=UTC",
        "wal_compression=on", "restart_after_crash=on"};
    if (!durable) {
        // Survives kill -9 of every process, not of the machine.
        settings.insert(settings.end(),
                        {"fsync=off", "full_page_writes=off", "shared_buffers=32MB"});
    }
    for (const std::string& setting : settings) {
        command.words.emplace_back("-c");
        command.words.push_back(setting);
    }
    return command;
}

Command single_user_command(const ClusterLayout& layout, const fs::path& tools,
                            const std::optional<Account>& account, bool durable,
                            const std::string& database) {
    Command command{
        .words = {(tools / "postgres").string(), "--single", "-j", "-D", layout.data.string()},
        .account = account,
        .output = layout.log};
    if (!durable) command.words.insert(command.words.end(), {"-c", "fsync=off"});
    command.words.push_back(database);
    return command;
}

std::string address_of(const ClusterLayout& layout, const std::string& database,
                       const std::string& role) {
    return fmt::format("host={} port=5432 user={} dbname={}", quoted(layout.sockets.string()), role,
                       quoted(database));
}

std::string end_of_log(const ClusterLayout& layout) {
    constexpr std::streamoff bytes_max = 1500;
    std::ifstream file(layout.log, std::ios::ate);
    if (!file) return "it left no log";
    const std::streamoff size = file.tellg();
    file.seekg(std::max<std::streamoff>(0, size - bytes_max));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t begin = text.find_first_not_of(" \n");
    const std::size_t end = text.find_last_not_of(" \n");
    return begin == std::string::npos ? "its log is empty" : text.substr(begin, end - begin + 1);
}

}    // namespace slipway::store
