#include "server/main/database_address.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "api/base/error.h"
#include "api/base/posix.h"
#include "scheduler/store/pg/password.h"

namespace slipway {
namespace {

constexpr std::size_t address_bytes_max = 8192;

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::invalid_argument, message);
}

// A file that holds a password, checked: nobody else may read or change it. What is checked is what
// is read: the open file, whatever its name means later.
UniqueFd open_secret(std::string_view option, const std::string& path) {
    UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) refuse(fmt::format("{}: {} cannot be read: {}", option, path, std::strerror(errno)));
    struct stat found {};
    if (fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode))
        refuse(fmt::format("{}: {} is no file", option, path));
    if (found.st_uid != 0 && found.st_uid != geteuid())
        refuse(fmt::format("{}: {} belongs to another user; give it to the user that runs slipwayd",
                           option, path));
    if ((found.st_mode & 077) != 0)
        refuse(fmt::format(
            "{}: {} holds a database's address and has the mode {:04o}, so other users may read "
            "it; run: chmod 600 {}",
            option, path, found.st_mode & 07777, path));
    return file;
}

std::string read_secret(const std::string& path) {
    const UniqueFd file = open_secret("--database-file", path);
    std::array<char, address_bytes_max + 1> bytes{};
    const ssize_t count = read(file.get(), bytes.data(), bytes.size());
    const std::string_view text(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    if (begin == std::string_view::npos || text.size() > address_bytes_max)
        refuse(
            fmt::format("--database-file: {} must hold an address of up to {} bytes, such as "
                        "postgresql://user:password@host/name",
                        path, address_bytes_max));
    return std::string(text.substr(begin, end - begin + 1));
}

}    // namespace

std::string database_address(const DatabaseSources& sources) {
    const auto& [given, file, environment, arguments, config_files] = sources;
    if (!given.empty() && !file.empty())
        refuse("--database and --database-file are both given; leave one of them out");
    if (!file.empty()) return read_secret(file);
    if (given.empty()) return environment;
    const bool on_command_line = std::ranges::any_of(arguments, [&](const char* argument) {
        return std::string_view(argument).find(given) != std::string_view::npos;
    });
    if (on_command_line && store::may_hold_password(given))
        refuse(
            "--database: the address has a password, and every user of this machine can read a "
            "command line; put the address into a file of mode 0600 and name it with "
            "--database-file, or set SLIPWAY_DATABASE");
    if (!on_command_line && store::may_hold_password(given))
        for (const std::string& config : config_files)
            open_secret("--config", config);
    return given;
}

}    // namespace slipway
