#pragma once

#include <bit>
#include <cstdint>

#include "executor/graph/tensor.h"

namespace slipway {

/// Turns a sequence of 64-bit words into 128 bits. Two lanes that feed each other, each word mixed
/// by multiply and rotate as in MurmurHash3. Against chance, not against an attacker.
class Hasher {
public:
    void add(std::uint64_t word) {
        low_ = std::rotl(low_ ^ (word * 0x87c37b91114253d5U), 31) * 0x4cf5ad432745937fU + high_;
        high_ = std::rotl(high_ ^ (word * 0x9e3779b97f4a7c15U), 27) * 0xc2b2ae3d27d4eb4fU + low_;
        ++count_;
    }
    void add(const Hash128& hash) {
        add(hash.high);
        add(hash.low);
    }
    Hash128 finish() const {
        Hash128 result{finalize(high_ ^ count_), finalize(low_ + count_)};
        result.high += result.low;
        result.low ^= std::rotl(result.high, 32);
        return result;
    }

private:
    static std::uint64_t finalize(std::uint64_t word) {
        word = (word ^ (word >> 33)) * 0xff51afd7ed558ccdU;
        word = (word ^ (word >> 33)) * 0xc4ceb9fe1a85ec53U;
        return word ^ (word >> 33);
    }

    std::uint64_t high_ = 0x2545f4914f6cdd1dU;
    std::uint64_t low_ = 0x9e3779b97f4a7c15U;
    std::uint64_t count_ = 0;
};

}    // namespace slipway
