#pragma once

#include <cstdint>
#include <string>

#include "executor/tensor/shape.h"

namespace slipway {

/// "[8,3]".
std::string to_string(const Dims& dims);

/// Whether `dimensions` are all in 0..rank-1 and none is named twice.
bool are_distinct_dimensions(const Dims& dimensions, std::int64_t rank);
/// Whether `dimensions` are exactly 0..rank-1 in some order.
bool is_permutation(const Dims& dimensions, std::int64_t rank);

/// The dimensions 0..rank-1 that are not in `taken`, in order.
Dims other_dimensions(std::int64_t rank, const Dims& taken);
/// The permutation that undoes this one.
Dims inverse_permutation(const Dims& permutation);
/// 0, 1, … rank-1.
Dims identity_permutation(std::int64_t rank);
Dims concatenated(const Dims& first, const Dims& second);
/// dims[which[0]], dims[which[1]], …
Dims picked(const Dims& dims, const Dims& which);

}    // namespace slipway
