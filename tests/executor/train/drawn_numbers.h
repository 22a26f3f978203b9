#pragma once

#include <vector>

#include "executor/tensor/random.h"

namespace slipway {

/// Of the weights and samples whose curves are compared with torch's (make_loss_curves.py,
/// make_task_curves.py).
inline constexpr std::uint64_t curve_seed = 7;

/// `count` numbers in [0, 1).
inline std::vector<float> uniform(std::uint32_t site, std::uint64_t index, std::int64_t count) {
    RandomStream stream(curve_seed, site, index);
    std::vector<float> numbers(static_cast<std::size_t>(count));
    for (float& number : numbers)
        number = stream.next_uniform();
    return numbers;
}

}    // namespace slipway
