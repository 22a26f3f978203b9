#include "executor/data/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>

#include "executor/data/natural_order.h"
#include "executor/data/problem.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t listed_files_max = 10'000'000;
constexpr std::int64_t inflated_always_allowed = 64 << 20;
constexpr std::int64_t inflated_ratio_max = 100;

[[noreturn]] void refuse(const std::string& name, const std::string& message) {
    throw DataError({.file = name, .message = message});
}

bool is_folder(const fs::path& path) {
    std::error_code error;    // of a link that leads nowhere
    return fs::is_directory(path, error);
}

int open_beneath(int folder, const std::string& name, std::uint64_t flags) {
    open_how how{};
    how.flags = flags | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    return int(syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how));
}

/// Where the link `name` leads; none when it is no link, or not beneath `folder` itself: the
/// targets of other links are not for those who write names into a dataset.
std::optional<std::string> link_target(int folder, const std::string& name) {
    const UniqueFd link(open_beneath(folder, name, O_PATH | O_NOFOLLOW));
    if (!link) return std::nullopt;
    std::array<char, PATH_MAX> target;
    const ssize_t size = readlinkat(link.get(), "", target.data(), target.size());
    if (size <= 0) return std::nullopt;    // no link
    return std::string(target.data(), std::size_t(size));
}

std::string reason_of(int error, int folder, const std::string& name) {
    const std::optional<std::string> target = link_target(folder, name);
    switch (error) {
        case ENOENT:
        case ENOTDIR:
            if (target) return fmt::format("it is a link to {}, which does not exist", *target);
            return "the file does not exist";
        case EXDEV:
        case ELOOP:
            if (target)
                return fmt::format(
                    "it is a link to {}, outside the dataset's folder; replace it "
                    "by the file",
                    *target);
            return "the name points outside the dataset's folder";
        default:
            return fmt::format("the file cannot be opened: {}", strerror(error));
    }
}

bool is_beneath(const fs::path& folder, const fs::path& file) {
    const auto [end, ignored] =
        std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    return end == folder.end();
}

/// For kernels and sandboxes without openat2: the real path of what was opened decides.
int open_and_compare(const fs::path& folder, const std::string& name) {
    std::error_code error;
    const fs::path real_folder = fs::canonical(folder, error);
    const fs::path real_file = fs::canonical(folder / name, error);
    if (error) {
        errno = error.value();
        return -1;
    }
    if (fs::path(name).is_absolute() || !is_beneath(real_folder, real_file)) {
        errno = EXDEV;
        return -1;
    }
    return open(real_file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
}

std::int64_t size_of(const UniqueFd& file) {
    struct stat facts {};
    fstat(file.get(), &facts);
    return facts.st_size;
}

std::vector<std::byte> read_bytes(const UniqueFd& file, const std::string& name,
                                  std::int64_t size) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        const ssize_t count = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            throw Error{ErrorCode::unavailable,
                        fmt::format("{} cannot be read: {}", name, strerror(errno))};
        }
        if (count == 0) refuse(name, "the file became shorter while it was read");
        filled += std::size_t(count);
    }
    return bytes;
}

}    // namespace

Folder::Folder(fs::path path)
    : path_(std::move(path)), fd_(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (!fd_) {
        throw Error{ErrorCode::not_found, fmt::format("{} is not a folder that can be read: {}",
                                                      path_.string(), strerror(errno))};
    }
}

std::vector<std::string> Folder::list(std::vector<std::string>* folder_links) const {
    std::vector<std::string> names;
    std::error_code error;
    const fs::recursive_directory_iterator end;
    for (fs::recursive_directory_iterator entry(path_, error); !error && entry != end;
         entry.increment(error)) {
        const bool hidden = entry->path().filename().string().starts_with('.');
        const bool folder = fs::is_directory(entry->symlink_status(error));
        if (hidden && folder) entry.disable_recursion_pending();
        if (hidden || folder) continue;
        if (entry->is_symlink(error) && is_folder(entry->path())) {
            if (folder_links != nullptr)
                folder_links->push_back(entry->path().lexically_relative(path_).string());
            continue;
        }
        names.push_back(entry->path().lexically_relative(path_).string());
        if (std::int64_t(names.size()) > listed_files_max) {
            throw Error{ErrorCode::exhausted,
                        fmt::format("{} has more than {} files", path_.string(), listed_files_max)};
        }
    }
    if (error) {
        throw Error{ErrorCode::unavailable,
                    fmt::format("{} cannot be listed: {}", path_.string(), error.message())};
    }
    std::sort(names.begin(), names.end(), comes_before);
    return names;
}

UniqueFd Folder::open(const std::string& name) const {
    if (name.empty() || name.find('\0') != std::string::npos)
        refuse(name, "the file name is empty");
    constexpr std::uint64_t no_waiting = O_NONBLOCK;    // a FIFO must not hold us
    int fd = open_beneath(fd_.get(), name, O_RDONLY | no_waiting);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) fd = open_and_compare(path_, name);
    if (fd < 0 && name.starts_with('/'))
        refuse(name, "the name is an absolute path; write it relative to the dataset's folder");
    if (fd < 0) refuse(name, reason_of(errno, fd_.get(), name));
    UniqueFd file(fd);
    struct stat facts {};
    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) refuse(name, "it is not a regular file");
    return file;
}

std::vector<std::byte> Folder::read(const std::string& name, std::int64_t bytes_max) const {
    const UniqueFd file = open(name);
    const std::int64_t size = size_of(file);
    if (size > bytes_max) {
        refuse(name, fmt::format("the file has {} bytes, more than the {} that are read", size,
                                 bytes_max));
    }
    return read_bytes(file, name, size);
}

std::vector<std::byte> Folder::read_beginning(const std::string& name,
                                              std::int64_t bytes_max) const {
    const UniqueFd file = open(name);
    return read_bytes(file, name, std::min(size_of(file), bytes_max));
}

struct ByteStream::State {
    struct Close {
        void operator()(gzFile stream) const { gzclose_r(stream); }
    };
    std::unique_ptr<gzFile_s, Close> file;
    std::int64_t inflated = 0;
    std::int64_t inflated_max = 0;
};

ByteStream::ByteStream(UniqueFd file, std::string name)
    : name_(std::move(name)), state_(std::make_unique<State>()) {
    const int own = dup(file.get());    // gzclose closes what gzdopen was given
    state_->file.reset(own < 0 ? nullptr : gzdopen(own, "rb"));
    if (state_->file == nullptr) {
        if (own >= 0) close(own);
        throw Error{ErrorCode::exhausted, fmt::format("{} cannot be opened", name_)};
    }
    gzbuffer(state_->file.get(), 1 << 17);
    struct stat facts {};
    fstat(file.get(), &facts);
    state_->inflated_max =
        std::max(inflated_always_allowed, inflated_ratio_max * std::int64_t(facts.st_size));
}

ByteStream::~ByteStream() = default;
ByteStream::ByteStream(ByteStream&&) noexcept = default;
ByteStream& ByteStream::operator=(ByteStream&&) noexcept = default;

std::size_t ByteStream::read(std::span<std::byte> buffer) {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
        const std::size_t wanted = std::min<std::size_t>(buffer.size() - filled, 1U << 30);
        const int count = gzread(state_->file.get(), buffer.data() + filled, unsigned(wanted));
        int error = Z_OK;
        const char* text = gzerror(state_->file.get(), &error);
        // A gzip file that ends early is Z_BUF_ERROR: zlib may still have handed out its last
        // bytes.
        const std::int64_t place = gzoffset(state_->file.get());
        if (error == Z_BUF_ERROR) {
            refuse(name_, fmt::format("the gzip file is truncated: it ends at byte {}", place));
        }
        if (count < 0 || error != Z_OK) {
            const std::string said = text;    // "<fd:5>: incorrect data check"
            const std::size_t reason = said.find(">: ");
            refuse(name_, fmt::format("the gzip file is damaged before byte {}: {}", place,
                                      reason == said.npos ? said : said.substr(reason + 3)));
        }
        if (count == 0) break;
        filled += std::size_t(count);
        state_->inflated += count;
        if (state_->inflated > state_->inflated_max) {
            refuse(name_, fmt::format("the gzip file inflates to more than {} times its size; "
                                      "store it without gzip",
                                      inflated_ratio_max));
        }
    }
    return filled;
}

}    // namespace slipway
