#include "server/main/database_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "api/base/error.h"
#include "scheduler/store/pg/password.h"
#include "server/main/secret_file.h"

namespace slipway {
namespace {

constexpr std::size_t address_bytes_max = 8192;

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::invalid_argument, message);
}

std::string read_address(const std::string& path) {
    constexpr std::string_view option = "--database-file";
    const std::string text = read_secret_file(option, path, address_bytes_max);
    if (text.empty())
        refuse(
            fmt::format("{}: {} must hold an address of up to {} bytes, such as "
                        "postgresql://user:password@host/name",
                        option, path, address_bytes_max));
    return text;
}

}    // namespace

std::string database_address(const DatabaseSources& sources) {
    const auto& [given, file, environment, arguments, config_files] = sources;
    if (!given.empty() && !file.empty())
        refuse("--database and --database-file are both given; leave one of them out");
    if (!file.empty()) return read_address(file);
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
            open_secret_file("--config", config);
    return given;
}

}    // namespace slipway
