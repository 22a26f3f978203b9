#pragma once

#include <array>
#include <cstdint>

namespace slipway {

/// Philox-4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
/// A pure function of key and counter: numbers do not depend on who asks, in what order, or on how
/// many cores.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

/// A stream of numbers named by (seed, site, index): for instance (job seed, "shuffle", epoch).
/// Its whole state is `position`, so saving a stream is saving one number.
class RandomStream {
public:
    RandomStream(std::uint64_t seed, std::uint32_t site, std::uint64_t index);

    std::uint32_t next_u32();
    std::uint64_t next_u64();
    /// Uniform in [0, 1), 24 random bits.
    float next_uniform();
    /// Normal with mean 0 and deviation 1 (Box-Muller, in double, rounded once).
    float next_normal();
    /// Uniform in [0, bound), without bias (Lemire's method). bound > 0.
    std::uint64_t next_below(std::uint64_t bound);

    std::uint64_t position() const { return position_; }
    /// Goes on as if `position` numbers of 32 bits had been drawn.
    void seek(std::uint64_t position);

private:
    void fill_block();

    std::uint64_t seed_;
    std::uint32_t site_;
    std::uint64_t index_;
    std::uint64_t position_ = 0;    ///< numbers of 32 bits drawn so far
    std::array<std::uint32_t, 4> block_{};
};

/// Sites: who draws. Never renumber: resumed jobs depend on it.
enum RandomSite : std::uint32_t {
    site_init = 1,
    site_shuffle = 2,
    site_split = 3,
    site_dropout = 4,
    site_glyphs = 5,
    site_augment = 6,
    site_bench = 7,
    site_mask = 8,
    site_mix = 9
};

}    // namespace slipway
