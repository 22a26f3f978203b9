#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace slipway {

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4): 0xE3069283 of "123456789".
std::uint32_t crc32c(std::span<const std::byte> bytes);
/// The same on CPUs that have no instruction for it, which crc32c() calls there.
std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes);

/// As TFRecord files store it: a sum that is itself part of summed data is turned and moved.
std::uint32_t masked_crc32c(std::span<const std::byte> bytes);

}    // namespace slipway
