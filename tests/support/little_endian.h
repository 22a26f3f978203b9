#pragma once

#include <cstdint>
#include <string>

namespace slipway {

/// The low `bytes` bytes of `value`, the lowest first.
inline std::string little_endian(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i)
        text += char(value >> 8 * i & 0xFF);
    return text;
}

}    // namespace slipway
