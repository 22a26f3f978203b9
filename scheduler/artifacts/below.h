#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace slipway {

/// `relative` below `root`; none when it is absolute, empty or leads out of it.
std::optional<std::filesystem::path> below(const std::filesystem::path& root,
                                           const std::string& relative);

}    // namespace slipway
