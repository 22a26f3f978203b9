// The compression function of SHA-256 (FIPS 180-4, section 6.2.2): as the standard writes it, and
// with the CPU's instructions for it, which do two rounds each and are eight times as fast. It is
// ours since OpenSSL's library is too dear for one function: each process that loads it has 0.5 MB
// of its own for tables of all algorithms (decision 0090).
#include "api/base/sha256_blocks.h"

#include <bit>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace slipway {

namespace {

alignas(16) constexpr std::array<std::uint32_t, 64> constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian_word(const std::byte* at) {
    return std::uint32_t(at[0]) << 24 | std::uint32_t(at[1]) << 16 | std::uint32_t(at[2]) << 8 |
           std::uint32_t(at[3]);
}

void take_one(Sha256State& state, const std::byte* block) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t t = 0; t < 16; ++t)
        w[t] = big_endian_word(block + 4 * t);
    for (std::size_t t = 16; t < 64; ++t) {
        const std::uint32_t early = w[t - 15], late = w[t - 2];
        w[t] = w[t - 16] + w[t - 7] + (std::rotr(early, 7) ^ std::rotr(early, 18) ^ (early >> 3)) +
               (std::rotr(late, 17) ^ std::rotr(late, 19) ^ (late >> 10));
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t t = 0; t < 64; ++t) {
        const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                    ((e & f) ^ (~e & g)) + constants[t] + w[t];
        const std::uint32_t second =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    const Sha256State added{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i)
        state[i] += added[i];
}

void take_as_written(Sha256State& state, std::span<const std::byte> blocks) {
    for (std::size_t at = 0; at < blocks.size(); at += sha256_block_bytes)
        take_one(state, blocks.data() + at);
}

bool is_always_possible() {
    return true;
}

#if defined(__x86_64__)

bool has_instructions() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0 || (c & bit_SSSE3) == 0)
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

/// The state as the instructions have it: the words a, b, e, f and c, d, g, h, the first one on
/// top.
struct Halves {
    __m128i abef, cdgh;
};

[[gnu::target("sha,sse4.1"), gnu::always_inline]] inline void four_rounds(Halves& halves, __m128i w,
                                                                          std::size_t round) {
    const auto* four = reinterpret_cast<const __m128i*>(&constants[round]);
    const __m128i sum = _mm_add_epi32(w, _mm_load_si128(four));
    halves.cdgh = _mm_sha256rnds2_epu32(halves.cdgh, halves.abef, sum);
    halves.abef = _mm_sha256rnds2_epu32(halves.abef, halves.cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

/// The four words of the schedule after these sixteen.
[[gnu::target("sha,sse4.1"), gnu::always_inline]] inline __m128i after(__m128i w0, __m128i w4,
                                                                       __m128i w8, __m128i w12) {
    const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w4), _mm_alignr_epi8(w12, w8, 4));
    return _mm_sha256msg2_epu32(sum, w12);
}

[[gnu::target("sha,sse4.1"), gnu::always_inline]] inline __m128i words_at(const std::byte* at) {
    const __m128i reversed = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    return _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)), reversed);
}

[[gnu::target("sha,sse4.1")]] void take_with_instructions(Sha256State& state,
                                                          std::span<const std::byte> blocks) {
    auto* const low = reinterpret_cast<__m128i*>(state.data());
    const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(low), 0xb1);
    const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(low + 1), 0x1b);
    Halves halves{_mm_alignr_epi8(badc, efgh, 8), _mm_blend_epi16(efgh, badc, 0xf0)};
    for (std::size_t at = 0; at < blocks.size(); at += sha256_block_bytes) {
        const std::byte* const block = blocks.data() + at;
        const Halves before = halves;
        __m128i w0 = words_at(block), w4 = words_at(block + 16);
        __m128i w8 = words_at(block + 32), w12 = words_at(block + 48);
        for (std::size_t round = 0; round < 48; round += 16) {
            four_rounds(halves, w0, round);
            w0 = after(w0, w4, w8, w12);
            four_rounds(halves, w4, round + 4);
            w4 = after(w4, w8, w12, w0);
            four_rounds(halves, w8, round + 8);
            w8 = after(w8, w12, w0, w4);
            four_rounds(halves, w12, round + 12);
            w12 = after(w12, w0, w4, w8);
        }
        four_rounds(halves, w0, 48);
        four_rounds(halves, w4, 52);
        four_rounds(halves, w8, 56);
        four_rounds(halves, w12, 60);
        halves.abef = _mm_add_epi32(halves.abef, before.abef);
        halves.cdgh = _mm_add_epi32(halves.cdgh, before.cdgh);
    }
    const __m128i feba = _mm_shuffle_epi32(halves.abef, 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(halves.cdgh, 0xb1);
    _mm_storeu_si128(low, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(low + 1, _mm_alignr_epi8(dchg, feba, 8));
}

constexpr auto ways = std::to_array<Sha256Way>({
    {"instructions", has_instructions, take_with_instructions},
    {"as written", is_always_possible, take_as_written},
});

#else

constexpr auto ways = std::to_array<Sha256Way>({
    {"as written", is_always_possible, take_as_written},
});

#endif

const Sha256Way& fastest() {
    for (const Sha256Way& way : ways)
        if (way.is_possible()) return way;
    return ways.back();
}

}    // namespace

std::span<const Sha256Way> sha256_ways() {
    return ways;
}

void take_sha256_blocks(Sha256State& state, std::span<const std::byte> blocks) {
    static const Sha256Way& way = fastest();
    way.take(state, blocks);
}

}    // namespace slipway
