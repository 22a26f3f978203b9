#pragma once

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

#include <bit>
#include <cstring>

/// Registers full of numbers, spelled out: the compiler takes short loops apart instead.
namespace slipway {

template <class Element, int width>
using Vector [[gnu::vector_size(width * sizeof(Element))]] = Element;

/// Bytes of the widest register. The compiler keeps wider vectors in memory, lane by lane.
#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
#else
inline constexpr int register_bytes = 32;
#endif

/// For vectors and single numbers; no alignment is asked for.
template <class Number, class T>
Number load(const T* from) {
    Number numbers;
    std::memcpy(&numbers, from, sizeof numbers);
    return numbers;
}

template <class Number, class T>
void store(const Number& numbers, T* to) {
    std::memcpy(static_cast<void*>(to), &numbers, sizeof numbers);
}

/// a * b + c, rounded once where this build has an instruction for it. Spelled out where bits must
/// not depend on the number of rows: a compiler that may fuse does so in one instance of a template
/// and not in another.
inline Vector<float, 16> multiply_add(const Vector<float, 16>& a, const Vector<float, 16>& b,
                                      const Vector<float, 16>& c) {
#if defined(__AVX512F__)
    return Vector<float, 16>(_mm512_fmadd_ps(__m512(a), __m512(b), __m512(c)));
#elif defined(__FMA__)
    struct Halves {
        __m256 low, high;
    };
    const auto x = std::bit_cast<Halves>(a), y = std::bit_cast<Halves>(b);
    const auto sum = std::bit_cast<Halves>(c);
    return std::bit_cast<Vector<float, 16> >(
        Halves{_mm256_fmadd_ps(x.low, y.low, sum.low), _mm256_fmadd_ps(x.high, y.high, sum.high)});
#else
    return a * b + c;
#endif
}

inline Vector<float, 8> multiply_add(const Vector<float, 8>& a, const Vector<float, 8>& b,
                                     const Vector<float, 8>& c) {
#if defined(__FMA__)
    return Vector<float, 8>(_mm256_fmadd_ps(__m256(a), __m256(b), __m256(c)));
#else
    return a * b + c;
#endif
}

/// The number in all lanes.
template <class Floats>
Floats in_all_lanes(float number) {
    return number - Floats{};    // exact, and the sign of a zero stays
}

}    // namespace slipway
