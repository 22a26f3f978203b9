#include "server/main/secret_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "api/base/error.h"

namespace slipway {
namespace {

[[noreturn]] void refuse_file(const std::string& message) {
    throw Error(ErrorCode::invalid_argument, message);
}

}    // namespace

UniqueFd open_secret_file(std::string_view option, const std::string& path) {
    UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file)
        refuse_file(fmt::format("{}: {} cannot be read: {}", option, path, std::strerror(errno)));
    struct stat found {};
    if (fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode))
        refuse_file(fmt::format("{}: {} is not a file", option, path));
    if (found.st_uid != 0 && found.st_uid != geteuid())
        refuse_file(
            fmt::format("{}: {} belongs to another user; give it to the user that runs slipwayd",
                        option, path));
    if ((found.st_mode & 077) != 0)
        refuse_file(fmt::format(
            "{}: {} holds a secret and has the mode {:04o}, so other users may read it; run: chmod "
            "600 {}",
            option, path, found.st_mode & 07777, path));
    return file;
}

std::string read_secret_file(std::string_view option, const std::string& path,
                             std::size_t bytes_max) {
    const UniqueFd file = open_secret_file(option, path);
    std::string bytes(bytes_max + 1, '\0');
    const ssize_t count = read(file.get(), bytes.data(), bytes.size());
    const std::string_view text(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos || text.size() > bytes_max) return {};
    return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

}    // namespace slipway
