#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "api/base/posix.h"

namespace slipway {

/// `--home` if given, else SLIPWAY_HOME, else /var/lib/slipway as root or ~/.local/share/slipway.
/// Absolute. errors  throws invalid_argument when none of them can be told
std::filesystem::path home_folder(const std::string& given);

/// Whether a slipwayd runs with this home folder, which may be absent. Changes nothing.
bool is_home_in_use(const std::filesystem::path& folder);

/// The home folder of one slipwayd: made with its folders when absent, and locked: two slipwayd
/// never share one. The lock goes with the process, however it ends.
class Home {
public:
    /// errors  throws conflict when another slipwayd holds it (with its pid); unavailable when it
    ///         cannot be made or written
    explicit Home(std::filesystem::path folder);
    /// Removes the pid file.
    ~Home();
    Home(const Home&) = delete;
    Home& operator=(const Home&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path log_file() const { return path_ / "slipwayd.log"; }

    /// The admin token made at first start; none when the file is not there.
    std::optional<std::string> admin_token() const;
    /// Writes `admin-token`, mode 0600, synced to the disk.
    void keep_admin_token(const std::string& text) const;

    /// Writes `address`: where the service answers, or answered last. Programs beside it read it.
    void keep_address(const std::string& url) const;

private:
    std::filesystem::path path_;
    UniqueFd lock_;
};

/// The first line of home/admin-token; none when it cannot be read.
std::optional<std::string> read_admin_token(const std::filesystem::path& home);

}    // namespace slipway
