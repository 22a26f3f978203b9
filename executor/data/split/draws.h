#pragma once

#include <cstdint>
#include <vector>

#include "executor/data/dataset.h"

namespace slipway {

// What every way of dividing a dataset draws from.

/// The numbers below `count` in a random order: Fisher-Yates by RandomStream(seed, site_split,
/// stream). The same on every machine.
std::vector<std::int64_t> shuffled_numbers(std::int64_t count, std::uint64_t seed,
                                           std::uint64_t stream);

/// [group][class]: samples of each group, by class; one class unless `by_class`.
std::vector<std::vector<std::int64_t>> group_sizes(const DatasetIndex& index, bool by_class);

}    // namespace slipway
