#pragma once

#include <bit>
#include <cstdint>

#include "executor/codegen/kernels/vectors.h"
#include "executor/tensor/bfloat16.h"

/// Registers of sixteen f32 numbers, read from and written to arrays of f32 or of bf16.
namespace slipway {

inline constexpr int floats_count = 16;
using Floats = Vector<float, floats_count>;

inline Floats load_widened(const float* from) {
    return load<Floats>(from);
}

inline Floats load_widened(const BFloat16* from) {
    const auto halves = load<Vector<std::uint16_t, floats_count>>(from);
    using Words = Vector<std::uint32_t, floats_count>;
    return std::bit_cast<Floats>(__builtin_convertvector(halves, Words) << 16);
}

inline void store_rounded(const Floats& numbers, float* to) {
    store(numbers, to);
}

/// As BFloat16 rounds.
inline void store_rounded(const Floats& numbers, BFloat16* to) {
    const auto bits = std::bit_cast<Vector<std::uint32_t, floats_count>>(numbers);
    const auto rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    const auto halves = (bits & 0x7fffffffU) > 0x7f800000U ? (bits >> 16) | 0x40U : rounded;
    using Halves = Vector<std::uint16_t, floats_count>;
    store(__builtin_convertvector(halves, Halves), to);
}

}    // namespace slipway
