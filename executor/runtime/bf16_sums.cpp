// A block's sum and its bf16 form share their memory: a second copy would be as large as the
// gradients. So each direction goes by way of a piece that stays in the first-level cache: towards
// the front when narrowing, from the back when widening, where what is overwritten has been read.
#include "executor/runtime/bf16_sums.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "api/base/check.h"
#include "executor/tensor/bfloat16.h"

namespace slipway {

namespace {

constexpr std::int64_t piece = 2048;
using WidePiece = std::array<float, piece>;
using NarrowPiece = std::array<std::uint16_t, piece>;

void narrow_piece(const WidePiece& wide, NarrowPiece& narrow, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        narrow[std::size_t(i)] = BFloat16(wide[std::size_t(i)]).bits();
}

void widen_piece(const NarrowPiece& narrow, WidePiece& wide, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        wide[std::size_t(i)] = BFloat16::from_bits(narrow[std::size_t(i)]);
}

std::int64_t count_of(std::span<const std::byte> values) {
    check(values.size() % sizeof(float) == 0, "values of f32");
    return std::int64_t(values.size() / sizeof(float));
}

void copy(const void* from, std::int64_t count, std::size_t size, void* to) {
    std::memcpy(to, from, std::size_t(count) * size);
}

}    // namespace

void round_to_bf16(std::byte* values, std::int64_t begin, std::int64_t end) {
    auto* const all = reinterpret_cast<float*>(values);
    for (std::int64_t i = begin; i < end; ++i)
        all[i] = BFloat16(all[i]);
}

void narrow(const float* f32, std::byte* bf16, std::int64_t count) {
    WidePiece wide;
    NarrowPiece narrowed;
    for (std::int64_t first = 0; first < count; first += piece) {
        const std::int64_t size = std::min(piece, count - first);
        copy(f32 + first, size, sizeof(float), wide.data());
        narrow_piece(wide, narrowed, size);
        copy(narrowed.data(), size, sizeof(BFloat16), bf16 + first * 2);
    }
}

void widen(const std::byte* bf16, float* f32, std::int64_t count) {
    WidePiece wide;
    NarrowPiece narrowed;
    for (std::int64_t first = 0; first < count; first += piece) {
        const std::int64_t size = std::min(piece, count - first);
        copy(bf16 + first * 2, size, sizeof(BFloat16), narrowed.data());
        widen_piece(narrowed, wide, size);
        copy(wide.data(), size, sizeof(float), f32 + first);
    }
}

std::span<std::byte> narrow_in_place(std::span<std::byte> values) {
    narrow(reinterpret_cast<const float*>(values.data()), values.data(), count_of(values));
    return values.first(values.size() / 2);
}

void widen_in_place(std::span<std::byte> values) {
    const std::int64_t count = count_of(values);
    auto* const wide = reinterpret_cast<float*>(values.data());
    for (std::int64_t first = (count - 1) / piece * piece; first >= 0; first -= piece)
        widen(values.data() + first * 2, wide + first, std::min(piece, count - first));
}

}    // namespace slipway
