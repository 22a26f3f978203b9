#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipway {

/// The host and the port of a URL.
struct Authority {
    std::string host;    ///< a name, or an address without brackets
    std::uint16_t port = 0;
};

/// "host", "host:port", "[v6]" or "[v6]:port", without a user; v6 may have a zone ("fe80::1%eth0").
/// Nothing: it is none of these.
std::optional<Authority> parse_authority(std::string_view text, std::uint16_t default_port);

/// As a URL and the header Host spell it; without the port where it is `default_port`.
std::string to_string(const Authority& authority, std::optional<std::uint16_t> default_port = {});

}    // namespace slipway
