#include "executor/graph/ops/dims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace slipway {

std::string to_string(const Dims& dims) {
    return fmt::format("[{}]", fmt::join(dims, ","));
}

bool are_distinct_dimensions(const Dims& dimensions, std::int64_t rank) {
    Dims sorted = dimensions;
    std::ranges::sort(sorted);
    const bool in_range = sorted.empty() || (sorted.front() >= 0 && sorted.back() < rank);
    return in_range && std::ranges::adjacent_find(sorted) == sorted.end();
}

bool is_permutation(const Dims& dimensions, std::int64_t rank) {
    return std::int64_t(dimensions.size()) == rank && are_distinct_dimensions(dimensions, rank);
}

Dims other_dimensions(std::int64_t rank, const Dims& taken) {
    Dims others;
    for (std::int64_t i = 0; i < rank; ++i)
        if (std::ranges::find(taken, i) == taken.end()) others.push_back(i);
    return others;
}

Dims inverse_permutation(const Dims& permutation) {
    Dims inverse(permutation.size());
    for (std::size_t i = 0; i < permutation.size(); ++i)
        inverse[std::size_t(permutation[i])] = std::int64_t(i);
    return inverse;
}

Dims identity_permutation(std::int64_t rank) {
    Dims identity(static_cast<std::size_t>(rank));
    std::iota(identity.begin(), identity.end(), 0);
    return identity;
}

Dims concatenated(const Dims& first, const Dims& second) {
    Dims both = first;
    both.insert(both.end(), second.begin(), second.end());
    return both;
}

Dims picked(const Dims& dims, const Dims& which) {
    Dims result;
    result.reserve(which.size());
    for (const std::int64_t i : which)
        result.push_back(dims[std::size_t(i)]);
    return result;
}

}    // namespace slipway
