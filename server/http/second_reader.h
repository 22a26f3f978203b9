#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/http/head.h"

namespace slipway {

/// Reads the same bytes with Beast's parser and compares: none when it agrees about method, target,
/// body length, chunking and keep-alive, else what it says differently. Two readers that must agree
/// stand between a client and the body; the guard alone decides what is lenient.
std::optional<std::string> second_reader_disagrees(std::string_view bytes, const RequestHead& head,
                                                   const HttpLimits& limits);

}    // namespace slipway
