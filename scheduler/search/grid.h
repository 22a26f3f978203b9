#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/search/space.h"

namespace slipway::search {

/// The largest grid that a search takes.
constexpr std::uint64_t grid_points_max = 10000;

/// How large the grid of a space is.
struct GridSize {
    /// Combinations of all values, whatever conditions and constraints say; saturates at 2^64 - 1.
    std::uint64_t combinations = 0;
    /// Points after conditions and constraints; none: more than the limit, or not counted because
    /// 100,000 combinations were tried before, fewer with many parameters or long constraints.
    std::optional<std::uint64_t> points;
};

/// Parameters that a grid cannot enumerate: continuous ones without count or step.
std::vector<Problem> grid_problems(const Space& space);

/// grid_problems(space) is empty.
GridSize grid_size(const Space& space, std::uint64_t points_max);

/// The points, first parameter slowest; at most `points_max`. grid_problems(space) is empty.
std::vector<Point> grid_points(const Space& space, std::uint64_t points_max);

/// As grid_size().combinations, without counting points.
std::uint64_t grid_combinations(const Space& space);

/// What is wrong with a grid of this size, which may have `points_max` points. None when it is
/// small enough.
std::optional<Problem> grid_too_large(const GridSize& size, std::uint64_t points_max);

}    // namespace slipway::search
