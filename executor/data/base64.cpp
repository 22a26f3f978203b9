#include "executor/data/base64.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace slipway {

std::string base64(std::span<const std::byte> bytes) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t have = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i)
            bits = bits << 8 | (i < have ? std::uint32_t(bytes[at + i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i)
            text += i <= have ? digits[bits >> (18 - 6 * i) & 63U] : '=';
    }
    return text;
}

}    // namespace slipway
