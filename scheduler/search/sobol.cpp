#include "scheduler/search/sobol.h"

#include <bit>

#include "api/base/check.h"
#include "scheduler/search/random.h"
#include "scheduler/search/sobol_directions.h"

namespace slipway::search {

namespace {

constexpr unsigned bits = 32;

std::vector<std::uint32_t> van_der_corput() {
    std::vector<std::uint32_t> directions(bits);
    for (unsigned i = 0; i < bits; ++i)
        directions[i] = 1U << (bits - 1 - i);
    return directions;
}

/// The recurrence of Bratley and Fox, 1988: direction numbers as fractions of 32 bits.
std::vector<std::uint32_t> directions_of(const SobolDirections& row) {
    const unsigned degree = unsigned(std::bit_width(row.polynomial)) - 1;
    std::vector<std::uint32_t> directions(bits);
    for (unsigned i = 0; i < bits; ++i) {
        if (i < degree) {
            directions[i] = std::uint32_t(row.first[i]) << (bits - 1 - i);
            continue;
        }
        directions[i] = directions[i - degree] ^ (directions[i - degree] >> degree);
        for (unsigned k = 1; k < degree; ++k) {
            if ((row.polynomial >> (degree - k)) & 1) directions[i] ^= directions[i - k];
        }
    }
    return directions;
}

std::uint32_t reversed(std::uint32_t word) {
    word = __builtin_bswap32(word);
    word = (word & 0x0F0F0F0F) << 4 | (word >> 4 & 0x0F0F0F0F);
    word = (word & 0x33333333) << 2 | (word >> 2 & 0x33333333);
    return (word & 0x55555555) << 1 | (word >> 1 & 0x55555555);
}

/// Each bit is flipped or not by a hash of the bits below it.
std::uint32_t permuted_upwards(std::uint32_t word, std::uint32_t seed) {
    word ^= word * 0x3D20ADEA;
    word += seed;
    word *= (seed >> 16) | 1;
    word ^= word * 0x05526C56;
    word ^= word * 0x53A22864;
    return word;
}

}    // namespace

SobolSequence::SobolSequence(std::size_t dimension, std::optional<std::uint64_t> scramble_seed)
    : scramble_seed_(scramble_seed) {
    check(dimension >= 1 && dimension <= sobol_dimensions_max, "a Sobol sequence has directions");
    directions_.push_back(van_der_corput());
    while (directions_.size() < dimension)
        directions_.push_back(directions_of(sobol_directions[directions_.size() - 1]));
}

std::vector<double> SobolSequence::point(std::uint32_t index) const {
    const std::uint32_t gray = index ^ (index >> 1);
    std::vector<double> point;
    for (std::size_t dimension = 0; dimension < directions_.size(); ++dimension) {
        std::uint32_t word = 0;
        for (unsigned i = 0; i < bits; ++i)
            if ((gray >> i) & 1) word ^= directions_[dimension][i];
        if (scramble_seed_) {
            Draws draws(*scramble_seed_, DrawSite::sobol, dimension);
            word = reversed(permuted_upwards(reversed(word), std::uint32_t(draws.next_u64())));
        }
        point.push_back(double(word) * 0x1p-32);
    }
    return point;
}

}    // namespace slipway::search
