#include "api/http/authority.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace slipway {

namespace {

// A name in another script is written in its ASCII form (xn--).
bool is_host_character(char c) {    // ':' and '%', before a zone, in addresses alone
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '_' || c == ':' || c == '%';
}

}    // namespace

std::optional<Authority> parse_authority(std::string_view text, std::uint16_t default_port) {
    Authority authority{{}, default_port};
    const bool is_address = text.starts_with('[');
    if (is_address) {
        const auto close = text.find(']');
        if (close == text.npos) return std::nullopt;
        authority.host = text.substr(1, close - 1);
        text.remove_prefix(close + 1);
        if (authority.host.find(':') == std::string::npos) return std::nullopt;
    } else {
        const auto colon = std::min(text.find(':'), text.size());
        authority.host = text.substr(0, colon);
        text.remove_prefix(colon);
    }
    if (authority.host.empty() || !std::ranges::all_of(authority.host, is_host_character) ||
        (!is_address && authority.host.find('%') != std::string::npos))
        return std::nullopt;
    if (text.empty() || text == ":") return authority;
    const char* const digits_end = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + 1, digits_end, authority.port);
    if (text.front() != ':' || error != std::errc{} || end != digits_end || authority.port == 0)
        return std::nullopt;
    return authority;
}

std::string to_string(const Authority& authority, std::optional<std::uint16_t> default_port) {
    const bool v6 = authority.host.find(':') != std::string::npos;
    const std::string host = v6 ? "[" + authority.host + "]" : authority.host;
    return authority.port == default_port ? host : fmt::format("{}:{}", host, authority.port);
}

}    // namespace slipway
