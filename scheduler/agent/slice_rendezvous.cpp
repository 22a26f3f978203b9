#include "scheduler/agent/slice_rendezvous.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "api/base/error.h"
#include "api/base/posix.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

UniqueFd open_rendezvous(const fs::path& run_folder) {
    return UniqueFd(open((run_folder / rendezvous_folder).c_str(),
                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

[[noreturn]] void refuse(const fs::path& run_folder, int rank, int error) {
    throw Error{ErrorCode::exhausted,
                fmt::format("the address of rank {} cannot be put into {}: {}", rank,
                            (run_folder / rendezvous_folder).string(), std::strerror(error))};
}

}    // namespace

std::optional<std::string> read_offer(const fs::path& run_folder, int rank) {
    const UniqueFd folder = open_rendezvous(run_folder);
    if (!folder) return std::nullopt;
    const UniqueFd file(openat(folder.get(), std::to_string(rank).c_str(),
                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat facts {};
    if (!file || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
    if (facts.st_size <= 0 || std::size_t(facts.st_size) > rendezvous_bytes_max)
        return std::nullopt;
    std::string bytes(std::size_t(facts.st_size), '\0');
    if (pread(file.get(), bytes.data(), bytes.size(), 0) != facts.st_size) return std::nullopt;
    return bytes;
}

void bring_offer(const fs::path& run_folder, int rank, std::string_view bytes) {
    const UniqueFd folder = open_rendezvous(run_folder);
    if (!folder) refuse(run_folder, rank, errno);
    const std::string name = std::to_string(rank);
    const std::string aside = fmt::format(".{}.brought", rank);
    unlinkat(folder.get(), aside.c_str(), 0);    // of an agent that ended half-way
    const UniqueFd file(openat(folder.get(), aside.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) refuse(run_folder, rank, errno);
    // The executor is another user where the service is root.
    if (fchmod(file.get(), 0644) != 0 ||
        write(file.get(), bytes.data(), bytes.size()) != ssize_t(bytes.size()) ||
        renameat(folder.get(), aside.c_str(), folder.get(), name.c_str()) != 0)
        refuse(run_folder, rank, errno);
}

}    // namespace slipway
