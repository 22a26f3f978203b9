#pragma once

#include <cstddef>
#include <cstdint>

namespace slipway {

/// to[i] = from[i], bf16 as f32.
void widen(const std::byte* from, std::byte* to, std::int64_t count);
/// to[i] = from[i], f32 as bf16: to the nearest, ties to even.
void round_to_bf16(const std::byte* from, std::byte* to, std::int64_t count);

}    // namespace slipway
