#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace slipway {

/// The id of a home folder, by which the database knows a machine; none before an agent has worked
/// there.
std::optional<std::string> find_home_id(const std::filesystem::path& home);

/// Likewise; made when there is none. Whoever asks first makes it, and all get the same one, also
/// threads and processes that ask at once.
/// errors  throws unavailable when it cannot be written
std::string home_id(const std::filesystem::path& home);

}    // namespace slipway
