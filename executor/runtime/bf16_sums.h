#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// Sums of f32 that are exchanged as bf16: to the nearest, ties to even, as BFloat16 rounds.
namespace slipway {

/// Each value in begin..end of f32 `values` becomes the nearest bf16 number, in f32.
void round_to_bf16(std::byte* values, std::int64_t begin, std::int64_t end);

/// f32 `values` as bf16, in the first half of their memory, which it returns.
std::span<std::byte> narrow_in_place(std::span<std::byte> values);

/// What narrow_in_place left there, in f32 again.
void widen_in_place(std::span<std::byte> values);

/// to[i] = from[i], for i in 0..count.
void widen(const std::byte* bf16, float* f32, std::int64_t count);
void narrow(const float* f32, std::byte* bf16, std::int64_t count);

}    // namespace slipway
