#include "executor/data/formats/crc32c.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#include <array>
#include <bit>
#include <cstring>

namespace slipway {

namespace {

using Table = std::array<std::uint32_t, 256>;

/// tables[k][b]: what byte b adds when k bytes follow it in the same word.
constexpr std::array<Table, 8> tables = [] {
    std::array<Table, 8> made{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t sum = byte;
        for (int bit = 0; bit < 8; ++bit)
            sum = sum >> 1 ^ ((sum & 1) != 0 ? 0x82F63B78U : 0U);
        made[0][byte] = sum;
    }
    for (std::size_t k = 1; k < made.size(); ++k) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = made[k - 1][byte];
            made[k][byte] = before >> 8 ^ made[0][before & 0xFF];
        }
    }
    return made;
}();

#if defined(__x86_64__)
/// By the instruction that x86 has for this very sum.
[[gnu::target("sse4.2")]] std::uint32_t sum_by_instruction(std::span<const std::byte> bytes) {
    std::uint64_t sum = 0xFFFFFFFF;
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, &bytes[at], sizeof word);
        sum = _mm_crc32_u64(sum, word);
    }
    auto rest = std::uint32_t(sum);
    for (; at < bytes.size(); ++at)
        rest = _mm_crc32_u8(rest, std::to_integer<std::uint8_t>(bytes[at]));
    return ~rest;
}
#endif

}    // namespace

// Eight bytes at a time: one by one a disk is faster than the sum.
std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes) {
    std::uint32_t sum = 0xFFFFFFFF;
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        std::uint32_t next = 0;
        for (std::size_t i = 0; i < 8; ++i) {
            const auto byte = std::to_integer<std::uint32_t>(bytes[at + i]);
            const std::uint32_t mixed = i < 4 ? (byte ^ (sum >> 8 * i & 0xFF)) : byte;
            next ^= tables[7 - i][mixed];
        }
        sum = next;
    }
    for (; at < bytes.size(); ++at) {
        const auto byte = std::to_integer<std::uint32_t>(bytes[at]);
        sum = sum >> 8 ^ tables[0][(sum ^ byte) & 0xFF];
    }
    return ~sum;
}

std::uint32_t crc32c(std::span<const std::byte> bytes) {
#if defined(__x86_64__)
    static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
    if (has_instruction) return sum_by_instruction(bytes);
#endif
    return crc32c_by_tables(bytes);
}

std::uint32_t masked_crc32c(std::span<const std::byte> bytes) {
    return std::rotr(crc32c(bytes), 15) + 0xA282EAD8U;
}

}    // namespace slipway
