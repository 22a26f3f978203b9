#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace slipway {

/// Where a service listens for its nodes. Each start of the service announces it in a file that
/// nodes read before each try, so that a service that listens at another port is found.
struct Announcement {
    std::string address;
    std::uint16_t port = 0;
    bool operator==(const Announcement&) const = default;
};

/// Whole or not at all; the file is for its owner alone.
/// errors  throws exhausted, unavailable
void announce(const std::filesystem::path& file, const Announcement& announcement);
/// None: there is none, or it is no announcement.
std::optional<Announcement> read_announcement(const std::filesystem::path& file);

}    // namespace slipway
