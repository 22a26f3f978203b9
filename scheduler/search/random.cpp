#include "scheduler/search/random.h"

namespace slipway::search {

namespace {
__extension__ using Product = unsigned __int128;
constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15;
}    // namespace

std::uint64_t mixed_bits(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    return bits ^ (bits >> 31);
}

Draws::Draws(std::uint64_t seed, DrawSite site, std::uint64_t index)
    : state_(mixed_bits(mixed_bits(mixed_bits(seed + golden_ratio) + std::uint64_t(site)) +
                        golden_ratio * (index + 1))) {}

std::uint64_t Draws::next_u64() {
    state_ += golden_ratio;
    return mixed_bits(state_);
}

double Draws::next_uniform() {
    return double(next_u64() >> 11) * 0x1p-53;
}

std::uint64_t Draws::next_below(std::uint64_t bound) {
    return std::uint64_t((static_cast<Product>(next_u64()) * bound) >> 64);
}

}    // namespace slipway::search
