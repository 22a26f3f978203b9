#include "executor/checkpoint/durable_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace slipway {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path) {
    const int error = errno;
    if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
        throw Error{ErrorCode::exhausted,
                    fmt::format("{} cannot be written: the disk is full ({}); free some space and "
                                "retry the job",
                                path.string(), strerror(error))};
    }
    throw Error{ErrorCode::unavailable,
                fmt::format("{} cannot be written: {}", path.string(), strerror(error))};
}

}    // namespace

DurableFile::DurableFile(std::filesystem::path path)
    : path_(std::move(path)),
      file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (!file_) fail(path_);
}

DurableFile::~DurableFile() {
    struct stat facts {};
    // A device that was written to is not ours to remove.
    if (file_ && fstat(file_.get(), &facts) == 0 && S_ISREG(facts.st_mode)) unlink(path_.c_str());
}

void DurableFile::write(std::span<const std::byte> bytes) {
    hash_.update(bytes);
    bytes_ += std::int64_t(bytes.size());
    while (!bytes.empty()) {
        const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail(path_);
        bytes = bytes.subspan(std::size_t(count));
    }
}

WrittenFile DurableFile::finish() {
    // A failed fsync may have dropped the pages, so trying again on this file proves nothing.
    if (fsync(file_.get()) != 0) fail(path_);
    file_.reset();
    return {path_.filename().string(), bytes_, hash_.finish()};
}

void sync_folder(const std::filesystem::path& folder) {
    const UniqueFd opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened || fsync(opened.get()) != 0) fail(folder);
}

}    // namespace slipway
