#pragma once

#include <optional>
#include <vector>

#include "scheduler/search/parameter.h"
#include "scheduler/search/random.h"
#include "scheduler/search/space.h"

namespace slipway::search {

/// A point and its place in the unit cube. Both outlive what is made from them.
struct PlacedPoint {
    const Point* point;
    const std::vector<double>* unit;
};

/// A density over the points of a space: a mixture of one kernel for each given point and one
/// that covers everything. A kernel is a product over parameters: of numbers a normal
/// distribution cut off at the bounds, in the coordinates of the unit cube; of categorical
/// choices a probability that favours its own value. Where a point lacks a parameter
/// (conditions), its kernel is uniform there.
class ParzenMixture {
public:
    ParzenMixture(const Space& space, const std::vector<PlacedPoint>& points);

    /// A place drawn from the mixture.
    std::vector<double> draw(Draws& draws);

    /// The logarithm of the density at a point, relative to the uniform one over the parameters
    /// that exist in it. Not const: what kernels need is computed when it is first asked for.
    double log_density(const Point& point);

private:
    /// Of the normal distribution of one kernel and parameter: its mass below 0 and inside the
    /// bounds, and the logarithm of its width times the latter.
    struct Scale {
        double below = 0;
        double inside = 1;
        double log_scale = 0;
    };
    /// What the kernels have for one parameter, the kernel that covers everything last.
    struct Row {
        const Parameter* parameter;
        double width = 0;                    // of all kernels but the last one
        double log_density_max = 0;          // of any of these, at its centre
        std::vector<double> centers = {};    // by kernel
        std::vector<bool> exists = {};       // by kernel; empty: in each
        std::vector<Scale> scales = {};      // by kernel; of those that have_scales_
    };
    /// What kernels of a categorical parameter add at a place.
    struct Choice {
        Interval at;
        double own;
        double other;
        double log_for(double center) const {
            return center >= at.begin && center < at.end ? own : other;
        }
    };
    using Kernels = std::vector<std::size_t>;
    using Places = std::vector<std::optional<Interval>>;    // of a point, by row

    std::size_t last() const { return have_scales_.size() - 1; }
    double width_of(const Row& row, std::size_t kernel) const;
    void need_scales(const Kernels& kernels);
    void find_scales(Row& row, const Kernels& kernels);
    Places places_of(const Point& point) const;

    void find_bounds(const Places& places);
    void add_bounds(const Row& row, const Interval& at);
    void find_logs(const Places& places);
    void add_logs(const Row& row, const Interval& at);
    void add_choices(const Row& row, const Interval& at);
    Choice choice_of(const Interval& at) const;
    std::optional<double> log_sum(const Places& places, double margin);

    std::vector<Row> rows_;            // by dimension
    std::vector<bool> have_scales_;    // by kernel

    // Of the last point:
    std::vector<double> bounds_;    // by kernel: its logarithm is not greater
    Kernels near_;                  // the kernels whose logarithms matter
    std::vector<double> logs_;      // of these
    std::vector<double> scratch_;
    std::vector<std::size_t> of_scratch_;
};

}    // namespace slipway::search
