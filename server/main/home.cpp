#include "server/main/home.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "api/base/error.h"
#include "scheduler/artifacts/artifact_store.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

// As root, the users of executors pass through to what is theirs; nobody can list them.
mode_t folder_mode() {
    return geteuid() == 0 ? 0711 : 0700;
}

[[noreturn]] void fail(const fs::path& path, const char* what) {
    const int reason = errno;
    throw Error(ErrorCode::unavailable,
                fmt::format("{} {}: {}; give a folder you may write with --home", path.string(),
                            what, std::strerror(reason)));
}

void make_folder(const fs::path& path, mode_t mode) {
    if (mkdir(path.c_str(), mode) != 0 && errno != EEXIST) fail(path, "cannot be made");
    struct stat found {};
    if (stat(path.c_str(), &found) != 0) fail(path, "cannot be read");
    if (!S_ISDIR(found.st_mode)) {
        errno = ENOTDIR;
        fail(path, "is in the way");
    }
}

// As root others pass through, because the private cluster and executors run as users of their own;
// nobody else lists what is there.
mode_t home_mode() {
    return geteuid() == 0 ? 0711 : 0750;
}

// A home folder that was made wider, by an older version or with mkdir.
void close_to_others(const fs::path& home) {
    struct stat found {};
    if (stat(home.c_str(), &found) != 0) fail(home, "cannot be read");
    const mode_t narrow =
        (found.st_mode & 0700) | (found.st_mode & home_mode() & 077) | (geteuid() == 0 ? 0011 : 0);
    if (narrow != (found.st_mode & 0777) && found.st_uid == geteuid() &&
        chmod(home.c_str(), narrow) != 0)
        fail(home, "cannot be closed to other users");
}

std::string first_line(const fs::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

constexpr const char* lock_file = "slipwayd.lock";

UniqueFd lock_home(const fs::path& home) {
    const fs::path path = home / lock_file;
    UniqueFd lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock) fail(path, "cannot be written");
    if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
    if (errno != EWOULDBLOCK) fail(path, "cannot be locked");
    throw Error(ErrorCode::conflict,
                fmt::format("the home folder {} is in use by the slipwayd with process id {}; stop "
                            "it first, or give another --home",
                            home.string(), first_line(home / "slipwayd.pid")));
}

void write_whole(const fs::path& path, std::string_view text, mode_t mode) {
    const fs::path aside = path.string() + ".new";
    unlink(aside.c_str());
    const UniqueFd file(open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!file) fail(aside, "cannot be written");
    if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        fsync(file.get()) != 0 || rename(aside.c_str(), path.c_str()) != 0)
        fail(path, "cannot be written");
    const UniqueFd folder(open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder || fsync(folder.get()) != 0) fail(path, "cannot be synced");
}

}    // namespace

fs::path home_folder(const std::string& given) {
    if (!given.empty()) return fs::absolute(given).lexically_normal();
    if (const char* home = std::getenv("SLIPWAY_HOME"); home != nullptr && *home != '\0')
        return fs::absolute(home).lexically_normal();
    if (geteuid() == 0) return "/var/lib/slipway";
    if (const char* user = std::getenv("HOME"); user != nullptr && *user == '/')
        return fs::path(user) / ".local/share/slipway";
    throw Error(ErrorCode::invalid_argument,
                "there is no home folder: HOME is not set; give one with --home or SLIPWAY_HOME");
}

bool is_home_in_use(const fs::path& folder) {
    // Shared: two that look at the same time do not see each other.
    const UniqueFd lock(open((folder / lock_file).c_str(), O_RDONLY | O_CLOEXEC));
    return lock && flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Home::Home(fs::path folder) : path_(std::move(folder)) {
    std::error_code error;
    fs::create_directories(path_.parent_path(), error);
    make_folder(path_, home_mode());
    lock_ = lock_home(path_);
    close_to_others(path_);
    // The private cluster makes `postgres` itself, for its own user.
    for (const std::string_view name : artifact_folders()) {
        const fs::path one = path_ / name;
        make_folder(one, folder_mode());
        // Of an earlier version, or made under another umask.
        if (chmod(one.c_str(), folder_mode()) != 0) fail(one, "is not ours");
    }
    write_whole(path_ / "slipwayd.pid", fmt::format("{}\n", getpid()), 0644);
}

Home::~Home() {
    // The lock file stays: removing it would let two processes lock two different files.
    unlink((path_ / "slipwayd.pid").c_str());
}

std::optional<std::string> Home::admin_token() const {
    return read_admin_token(path_);
}

void Home::keep_admin_token(const std::string& text) const {
    write_whole(path_ / "admin-token", text + "\n", 0600);
}

void Home::keep_address(const std::string& url) const {
    write_whole(path_ / "address", url + "\n", 0644);
}

std::optional<std::string> read_admin_token(const fs::path& home) {
    std::string line = first_line(home / "admin-token");
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
        line.pop_back();
    if (line.empty()) return std::nullopt;
    return line;
}

}    // namespace slipway
