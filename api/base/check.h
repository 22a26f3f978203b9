#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <string_view>

namespace slipway {

/// Stops the process when `held` is false: the program has a bug. In release too. Never for user
/// input.
inline void check(bool held, std::string_view invariant,
                  std::source_location where = std::source_location::current()) {
    if (held) [[likely]]
        return;
    fmt::print(stderr, "{}:{}: broken invariant: {}\n", where.file_name(), where.line(), invariant);
    std::abort();
}

}    // namespace slipway
