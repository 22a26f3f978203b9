#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace slipway {

/// The eight words a to h of FIPS 180-4, section 6.2.
using Sha256State = std::array<std::uint32_t, 8>;

inline constexpr std::size_t sha256_block_bytes = 64;

inline constexpr Sha256State sha256_start{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/// A way to take whole blocks into the state. `blocks` is a multiple of sha256_block_bytes.
struct Sha256Way {
    std::string_view name;
    bool (*is_possible)();    ///< on this CPU
    void (*take)(Sha256State& state, std::span<const std::byte> blocks);
};

/// The fastest first; the last is always possible. All have the same results.
std::span<const Sha256Way> sha256_ways();

/// Takes whole blocks in the fastest way that this CPU has. From every thread.
void take_sha256_blocks(Sha256State& state, std::span<const std::byte> blocks);

}    // namespace slipway
