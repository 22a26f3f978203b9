#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "executor/graph/tensor.h"

/// The space that the nodes of one kernel walk: its elements in row-major order, known by the
/// strides at which dimensions begin. Shapes of different rank share one space.
namespace slipway {

/// Consecutive dimensions of an iteration space: those whose strides, counted in elements of the
/// space, lie in [first, last).
struct SpaceRange {
    std::int64_t first = 1, last = 1;
    bool operator==(const SpaceRange&) const = default;
};

/// How many elements of its operand go into one of a reduction's result.
std::int64_t reduced_elements(const Node& node);

/// The strides at which the dims begin, ascending, in a space where one element is `unit`.
std::vector<std::int64_t> strides_in_space(const Dims& dims, std::int64_t unit);

/// What a reduction reduces, as ranges of its operand's space, ascending and joined.
std::vector<SpaceRange> reduced_ranges(const Node& node);

/// Both sets of strides in one, or nothing when one does not divide the next.
std::optional<std::vector<std::int64_t>> refined(const std::vector<std::int64_t>& a,
                                                 const std::vector<std::int64_t>& b);

}    // namespace slipway
