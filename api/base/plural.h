#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace slipway {

/// "1 host", "0 hosts", "12 hosts". For a message to a person.
///   noun    in the singular
///   plural  when it is not the noun with an s: counted(2, "class", "classes")
template <class Number>
requires std::integral<Number> || std::floating_point<Number> std::string counted(
    Number count, std::string_view noun, std::string_view plural = {}) {
    if (count == 1) return fmt::format("1 {}", noun);
    return plural.empty() ? fmt::format("{} {}s", count, noun)
                          : fmt::format("{} {}", count, plural);
}

}    // namespace slipway
