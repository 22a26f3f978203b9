#include "scheduler/search/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "scheduler/search/parameter.h"

namespace slipway::search {

namespace {

constexpr std::uint64_t visits_max = 100'000;
// Of counting the points of a new grid. A value takes as long as ten steps of a constraint.
constexpr std::uint64_t count_effort_max = 20'000'000;
constexpr std::uint64_t count_effort_of_value = 10;
constexpr std::uint64_t saturated = std::numeric_limits<std::uint64_t>::max();

/// Goes through the combinations depth first; parents of conditions come before what they decide.
class GridWalk {
public:
    GridWalk(const Space& space, const std::function<bool(const Point&)>& visit,
             std::uint64_t visits = visits_max)
        : space_(space), visit_(visit), visits_left_(visits) {
        for (const Parameter& parameter : space.parameters())
            spaced_.push_back(parameter.spec.count ? spaced_grid(parameter.spec)
                                                   : std::vector<Json>{});
    }

    /// False when it ended before the last combination.
    bool run() { return walk(0); }

private:
    bool walk(std::size_t index) {
        if (index == space_.parameters().size()) {
            if (visits_left_-- == 0) return false;
            return space_.broken_constraint(point_) != nullptr || visit_(point_);
        }
        const Parameter& parameter = space_.parameters()[index];
        if (!space_.exists(parameter, point_)) return walk(index + 1);
        const std::vector<Json>& spaced = spaced_[index];
        const std::uint64_t count =
            spaced.empty() ? grid_count(parameter.spec).value_or(0) : spaced.size();
        for (std::uint64_t i = 0; i < count; ++i) {
            point_[parameter.path] = spaced.empty() ? grid_value(parameter.spec, i) : spaced[i];
            if (!walk(index + 1)) return false;
        }
        point_.erase(parameter.path);
        return true;
    }

    const Space& space_;
    const std::function<bool(const Point&)>& visit_;
    std::vector<std::vector<Json>> spaced_;    // by parameter; empty: without count
    Point point_;
    std::uint64_t visits_left_;
};

}    // namespace

std::vector<Problem> grid_problems(const Space& space) {
    std::vector<Problem> problems;
    for (const Parameter& parameter : space.parameters()) {
        if (grid_count(parameter.spec)) continue;
        const std::string_view type = to_string(parameter.spec.type);
        const bool is_normal = parameter.spec.type == ParameterType::normal ||
                               parameter.spec.type == ParameterType::log_normal;
        problems.push_back(
            {parameter.spec.given_at.pointer + (is_normal ? "/type" : "/count"),
             is_normal ? "not_allowed" : "missing_field",
             is_normal
                 ? fmt::format("{} is of type {}, which has no bounds and therefore no grid; use "
                               "uniform or choice",
                               parameter.path, type)
                 : fmt::format("a grid requires count or step for {}, which is of type {}",
                               parameter.path, type)});
    }
    return problems;
}

std::uint64_t grid_combinations(const Space& space) {
    std::uint64_t product = 1;
    for (const Parameter& parameter : space.parameters()) {
        const std::uint64_t count = grid_count(parameter.spec).value_or(1);
        product = count > saturated / product ? saturated : product * count;
    }
    return product;
}

GridSize grid_size(const Space& space, std::uint64_t points_max) {
    const std::uint64_t effort_of_visit =
        count_effort_of_value * space.parameters().size() + space.condition_steps();
    std::uint64_t points = 0;
    const bool is_whole = GridWalk(
                              space, [&](const Point&) { return ++points <= points_max; },
                              std::min(visits_max, count_effort_max / effort_of_visit))
                              .run();
    return {grid_combinations(space), is_whole ? std::optional(points) : std::nullopt};
}

std::vector<Point> grid_points(const Space& space, std::uint64_t points_max) {
    std::vector<Point> points;
    if (points_max == 0) return points;
    GridWalk(space, [&](const Point& point) {
        points.push_back(point);
        return points.size() < points_max;
    }).run();
    return points;
}

std::optional<Problem> grid_too_large(const GridSize& size, std::uint64_t points_max) {
    if (size.points) return std::nullopt;
    return Problem{
        "/space", "out_of_bounds",
        fmt::format("the grid must have at most {} points, got {} combinations; use fewer values, "
                    "a smaller count, shorter constraints, or random or sobol",
                    points_max,
                    size.combinations == saturated ? "more than 10^19"
                                                   : fmt::to_string(size.combinations))};
}

}    // namespace slipway::search
