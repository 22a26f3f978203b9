#include "executor/tensor/random.h"

#include <cmath>
#include <numbers>

namespace slipway {

namespace {
__extension__ using Wide = unsigned __int128;
}    // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {std::uint32_t(product1 >> 32) ^ counter[1] ^ key[0], std::uint32_t(product1),
                   std::uint32_t(product0 >> 32) ^ counter[3] ^ key[1], std::uint32_t(product0)};
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return counter;
}

RandomStream::RandomStream(std::uint64_t seed, std::uint32_t site, std::uint64_t index)
    : seed_(seed), site_(site), index_(index) {}

void RandomStream::fill_block() {
    block_ = philox(
        {std::uint32_t(position_ / 4), std::uint32_t(index_), std::uint32_t(index_ >> 32), site_},
        {std::uint32_t(seed_), std::uint32_t(seed_ >> 32)});
}

void RandomStream::seek(std::uint64_t position) {
    position_ = position;
    if (position_ % 4 != 0) fill_block();
}

std::uint32_t RandomStream::next_u32() {
    const std::uint64_t lane = position_ % 4;
    if (lane == 0) fill_block();
    ++position_;
    return block_[lane];
}

std::uint64_t RandomStream::next_u64() {
    const std::uint64_t high = next_u32();
    return high << 32 | next_u32();
}

float RandomStream::next_uniform() {
    return float(next_u32() >> 8) * 0x1p-24F;
}

float RandomStream::next_normal() {
    // 1 - u keeps the logarithm's argument in (0, 1].
    const double radius = std::sqrt(-2.0 * std::log(1.0 - double(next_u32()) * 0x1p-32));
    const double angle = 2.0 * std::numbers::pi * double(next_u32()) * 0x1p-32;
    return float(radius * std::cos(angle));
}

std::uint64_t RandomStream::next_below(std::uint64_t bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    for (;;) {
        const auto product = static_cast<Wide>(next_u64()) * bound;
        if (std::uint64_t(product) >= threshold) return std::uint64_t(product >> 64);
    }
}

}    // namespace slipway
