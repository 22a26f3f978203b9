#include "scheduler/store/cluster/log_limit.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "api/base/error.h"
#include "api/base/posix.h"

// Why not PostgreSQL's own collector: it empties a file only when its time is up, and one that is
// full before goes on in the same file, or in as many as there is room for.

namespace slipway::store {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
    throw Error{ErrorCode::unavailable, fmt::format("{} cannot be {}: {}", path.string(), what,
                                                    std::system_category().message(errno))};
}

/// The last whole lines of a file.
std::string last_lines(int file, std::uint64_t size, std::uint64_t bytes_kept) {
    std::string text(bytes_kept, '\0');
    const ssize_t count =
        pread(file, text.data(), text.size(), static_cast<off_t>(size - bytes_kept));
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    const std::size_t end_of_part = text.find('\n');
    return end_of_part == std::string::npos ? std::string{} : text.substr(end_of_part + 1);
}

}    // namespace

void limit_log(const std::filesystem::path& path, const LogLimit& limit) {
    const UniqueFd file(
        open(path.c_str(), O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file && errno == ENOENT) return;
    if (!file) fail(path, "opened");
    struct stat found {};
    if (fstat(file.get(), &found) != 0) fail(path, "looked at");
    if (!S_ISREG(found.st_mode) || found.st_nlink != 1) return;
    const auto size = static_cast<std::uint64_t>(found.st_size);
    if (size <= limit.bytes_max) return;
    const std::string kept = last_lines(file.get(), size, limit.bytes_kept);
    if (ftruncate(file.get(), 0) != 0) fail(path, "cut");
    if (::write(file.get(), kept.data(), kept.size()) < 0) fail(path, "written");
}

}    // namespace slipway::store
