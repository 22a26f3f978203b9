#pragma once

#include <cstddef>
#include <string_view>

#include "api/base/json.h"
#include "api/base/result.h"

namespace slipway {

/// How much YAML from outside may hold.
struct YamlLimits {
    std::size_t bytes_max = 1 << 20;
    std::size_t depth_max = 32;
    std::size_t nodes_max = 20000;    ///< scalars, lists and maps; those of an alias count again
};

/// One YAML document as JSON, while it is read: nothing is built that a limit forbids. Plain words
/// are what PyYAML makes of them, which the services' own programs read such files with (true, yes
/// and on are true; ~ is null), but that 1e-4 is a number; quoted ones are text.
/// Refused, with line and column: what is no YAML, more than one document, tags, merge keys, keys
/// that are no text or stand twice, numbers that are not finite, and what is above the limits.
/// errors  invalid_argument
Result<Json> json_of_yaml(std::string_view text, const YamlLimits& limits = {});

}    // namespace slipway
