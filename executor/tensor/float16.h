#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace slipway {

/// The f32 of the same value as these bits of binary16 (IEEE 754): there is one for each.
inline float widened_float16(std::uint16_t half) {
    const int exponent = (half >> 10) & 31;
    const int fraction = half & 1023;
    const float sign = (half & 0x8000) != 0 ? -1.0F : 1.0F;
    if (exponent == 31)
        return fraction == 0 ? sign * std::numeric_limits<float>::infinity()
                             : std::numeric_limits<float>::quiet_NaN();
    if (exponent == 0) return sign * std::ldexp(float(fraction), -24);
    return sign * std::ldexp(float(1024 + fraction), exponent - 25);
}

}    // namespace slipway
