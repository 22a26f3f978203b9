#pragma once

#include <cstdint>

#include "executor/tensor/array.h"

namespace slipway {

/// Makes initial values from the job's seed. Each call draws from a stream of its own (numbered by
/// the calls so far), so changing one layer's size leaves the values of the layers before it alone.
class Init {
public:
    /// threads  that draw the values of a large array; the values do not depend on their number
    explicit Init(std::uint64_t seed, int threads = 1) : seed_(seed), threads_(threads) {}
    /// Draws nothing, gives zeros: for a network whose values are loaded.
    static Init zeros();

    /// U(-bound, bound), f32.
    Array uniform(Dims dims, double bound);
    /// N(0, deviation), f32.
    Array normal(Dims dims, double deviation);
    /// N(0, deviation) without what lies beyond two deviations: drawn again until it fits.
    Array truncated_normal(Dims dims, double deviation);
    /// What torch gives weight and bias of Linear and Conv2d: U(-1/sqrt(fan_in), 1/sqrt(fan_in)).
    Array fan_in_uniform(Dims dims, std::int64_t fan_in);

private:
    /// An array with each element drawn by `draw` from the next stream.
    /// numbers  that each element takes from the stream, 0: as many as it needs
    template <class Draw>
    Array drawn(Dims dims, std::uint64_t numbers, Draw draw);

    std::uint64_t seed_;
    int threads_;
    std::uint64_t calls_ = 0;
    bool draws_ = true;
};

/// Every element `value`, f32; draws nothing.
Array filled(Dims dims, double value);

}    // namespace slipway
