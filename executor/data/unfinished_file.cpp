#include "executor/data/unfinished_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "api/base/error.h"

namespace slipway {

bool is_named(const UniqueFd& file, const std::filesystem::path& path) {
    struct stat ours {
    }, named{};
    return fstat(file.get(), &ours) == 0 && stat(path.c_str(), &named) == 0 &&
           ours.st_ino == named.st_ino;
}

std::optional<UniqueFd> lock_unfinished(const std::filesystem::path& path) {
    for (;;) {
        UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
        if (!file) fail_writing(path);
        if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
        if (!is_named(file, path)) continue;
        if (ftruncate(file.get(), 0) != 0) fail_writing(path);
        return file;
    }
}

void remove_abandoned(const std::filesystem::path& path) {
    // The lock keeps others from beginning it.
    const UniqueFd file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file && flock(file.get(), LOCK_EX | LOCK_NB) == 0 && is_named(file, path))
        unlink(path.c_str());
}

void fail_writing(const std::filesystem::path& path) {
    const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
    throw Error{full ? ErrorCode::exhausted : ErrorCode::unavailable,
                fmt::format("{} cannot be written: {}", path.string(),
                            full ? "the disk is full" : strerror(errno))};
}

}    // namespace slipway
