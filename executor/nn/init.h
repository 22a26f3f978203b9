#pragma once

#include <cstdint>

#include "executor/tensor/array.h"

namespace slipway {

/// Makes initial values from the job's seed. Each call draws from a stream of its own (numbered by
/// the calls so far), so changing one layer's size leaves the values of the layers before it alone.
class Init {
public:
    explicit Init(std::uint64_t seed) : seed_(seed) {}

    /// U(-bound, bound), f32.
    Array uniform(Dims dims, double bound);
    /// What torch gives weight and bias of Linear and Conv2d: U(-1/sqrt(fan_in), 1/sqrt(fan_in)).
    Array fan_in_uniform(Dims dims, std::int64_t fan_in);

private:
    std::uint64_t seed_;
    std::uint64_t calls_ = 0;
};

}    // namespace slipway
