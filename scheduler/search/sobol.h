#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace slipway::search {

constexpr std::size_t sobol_dimensions_max = 128;

/// A Sobol sequence with the direction numbers of Joe and Kuo, in the order of their program (Gray
/// code). Point `index` is a function of the index alone. With a seed the points are scrambled:
/// Owen's nested scrambling by hashes (Burley, "Practical hash-based Owen scrambling", 2020), which
/// keeps every power of two of points as evenly spread as they were.
class SobolSequence {
public:
    /// dimension: 1 to sobol_dimensions_max.
    SobolSequence(std::size_t dimension, std::optional<std::uint64_t> scramble_seed);

    /// Coordinates in [0, 1), multiples of 2^-32.
    std::vector<double> point(std::uint32_t index) const;

private:
    std::vector<std::vector<std::uint32_t>> directions_;    // of each dimension, highest bit first
    std::optional<std::uint64_t> scramble_seed_;
};

}    // namespace slipway::search
