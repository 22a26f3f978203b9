#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace slipway {

/// A number of 16 bits: the upper half of an f32. Arithmetic is done in f32, by the implicit
/// conversion; storing rounds to the nearest, ties to even.
class BFloat16 {
public:
    BFloat16() = default;
    explicit BFloat16(float value) : bits_(rounded(std::bit_cast<std::uint32_t>(value))) {}
    /// Rounded once: by way of an f32 rounded to odd, which no tie can mislead.
    explicit BFloat16(double value) : BFloat16(rounded_to_odd(value)) {}
    template <class T>
    requires std::is_integral_v<T>
    explicit BFloat16(T value) : BFloat16(double(value)) {}

    static constexpr BFloat16 from_bits(std::uint16_t bits) {
        BFloat16 result;
        result.bits_ = bits;
        return result;
    }
    constexpr std::uint16_t bits() const { return bits_; }
    // NOLINTNEXTLINE(google-explicit-constructor): every bf16 number is a float's
    constexpr operator float() const { return std::bit_cast<float>(std::uint32_t(bits_) << 16); }

private:
    static constexpr std::uint16_t rounded(std::uint32_t bits) {
        if ((bits & 0x7fffffffU) > 0x7f800000U)
            return std::uint16_t((bits >> 16) | 0x40U);    // NaN
        return std::uint16_t((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
    }
    static float rounded_to_odd(double value) {
        const auto nearest = static_cast<float>(value);
        if (double(nearest) == value || std::isnan(value)) return nearest;
        auto bits = std::bit_cast<std::uint32_t>(nearest);
        if (std::abs(double(nearest)) > std::abs(value)) --bits;
        return std::bit_cast<float>(bits | 1U);
    }

    std::uint16_t bits_ = 0;
};

/// Whether T is an element type of floating numbers.
template <class T>
constexpr bool is_floating_type = std::is_floating_point_v<T> || std::is_same_v<T, BFloat16>;

}    // namespace slipway

template <>
class std::numeric_limits<slipway::BFloat16> {
public:
    static constexpr bool is_specialized = true;
    static constexpr bool has_infinity = true;
    static constexpr slipway::BFloat16 infinity() { return slipway::BFloat16::from_bits(0x7f80); }
    static constexpr slipway::BFloat16 max() { return slipway::BFloat16::from_bits(0x7f7f); }
    static constexpr slipway::BFloat16 lowest() { return slipway::BFloat16::from_bits(0xff7f); }
};
