#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace slipway {

std::string text_of(std::span<const std::byte> bytes);

/// An input for a reader of two files: the length of the first (2 bytes, low byte first; more than
/// there is means all), the first, the second.
std::pair<std::string, std::string> two_parts(std::span<const std::byte> input);

}    // namespace slipway
