#pragma once

#include <cstdint>

namespace slipway::search {

/// Who draws. Never renumber: the decisions of stored searches depend on it.
enum class DrawSite : std::uint32_t {
    random = 1,
    sobol = 2,
    tpe = 3,
    pbt = 4,
    initial = 5,
    importance = 6
};

/// Random numbers as a pure function of (seed, site, index, position): SplitMix64 over a hashed key
/// (Steele, Lea, Flood, 2014). Two draws with different keys are unrelated, so numbers do not
/// depend on who else has drawn, and a search keeps no state of a generator.
class Draws {
public:
    Draws(std::uint64_t seed, DrawSite site, std::uint64_t index);

    std::uint64_t next_u64();
    /// Uniform in [0, 1), 53 bits.
    double next_uniform();
    /// Uniform in [0, bound). bound > 0; the bias is below bound / 2^64.
    std::uint64_t next_below(std::uint64_t bound);

private:
    std::uint64_t state_;
};

/// The finaliser of SplitMix64: a good hash of 64 bits.
std::uint64_t mixed_bits(std::uint64_t bits);

}    // namespace slipway::search
