#include "tests/fuzz/input.h"

#include <algorithm>

namespace slipway {

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::pair<std::string, std::string> two_parts(std::span<const std::byte> input) {
    if (input.size() < 2) return {};
    const std::size_t said =
        std::to_integer<std::size_t>(input[0]) | std::to_integer<std::size_t>(input[1]) << 8;
    const auto rest = input.subspan(2);
    const std::size_t length = std::min(said, rest.size());
    return {text_of(rest.first(length)), text_of(rest.subspan(length))};
}

}    // namespace slipway
