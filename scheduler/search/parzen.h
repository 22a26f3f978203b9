#pragma once

#include <optional>
#include <vector>

#include "scheduler/search/parameter.h"
#include "scheduler/search/random.h"
#include "scheduler/search/space.h"

namespace slipway::search {

/// A density over the points of a space: a mixture of one kernel for each given point and one
/// that covers everything. A kernel is a product over parameters: of numbers a normal
/// distribution cut off at the bounds, in the coordinates of the unit cube; of categorical
/// choices a probability that favours its own value. Where a point lacks a parameter
/// (conditions), its kernel is uniform there.
class ParzenMixture {
public:
    /// `points` with their places in the unit cube.
    ParzenMixture(const Space& space, const std::vector<const Point*>& points,
                  const std::vector<const std::vector<double>*>& units);

    /// A place drawn from the mixture.
    std::vector<double> draw(Draws& draws) const;

    /// The logarithm of the density at a point, relative to the uniform one over the parameters
    /// that exist in it.
    double log_density(const Point& point) const;

private:
    /// A coordinate of a kernel. `width` 0: uniform.
    struct Coordinate {
        double center = 0.5;
        double width = 0;
        double below = 0;    // of the normal distribution: mass below 0, and inside the bounds
        double inside = 1;
        double log_scale = 0;    // the logarithm of width * inside
    };
    using Kernel = std::vector<Coordinate>;    // by dimension

    double log_kernel(const Kernel& kernel, const std::vector<std::optional<Interval>>& at) const;
    double log_coordinate(const Parameter& parameter, const Coordinate& coordinate,
                          const Interval& at) const;

    const Space& space_;    // outlives the mixture
    std::vector<Kernel> kernels_;
};

}    // namespace slipway::search
