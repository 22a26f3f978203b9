// Widths follow the points: a fraction of the deviation of the points that a mixture is made from,
// in each coordinate, times n^(-1 / (d + 4)) (Scott's rule for kernels of d coordinates). The
// mixture of the good points therefore narrows as they gather. Widths that depend on n and d alone,
// as Optuna's multivariate estimator has them, stay above a tenth of the range in a hundred trials
// (bench/search_quality.py compares).

#include "scheduler/search/parzen.h"

#include <algorithm>
#include <cmath>

#include "scheduler/search/stable_math.h"

namespace slipway::search {

namespace {

// The prior is a kernel too: as wide as the cube.
constexpr double prior_width = 1;
constexpr double width_max = 0.5;
// Both, and the fraction of good results, were chosen on bench/search_quality.py and looked at with
// other seeds: a fraction of 0.1 and 0.7 for both had up to five times the regret, on nine of ten
// functions. A floor of 0.3 of the mean distance of points along a line let the first good results
// narrow the search to their minimum, and 0.4 still did on levy5.
constexpr double width_floor = 0.5;
constexpr double scott_fraction = 0.5;
constexpr double log_sqrt_2pi = 0.91893853320467274178;

double scott_factor(std::size_t count, std::size_t dimension) {
    return stable_exp(-stable_log(double(count)) / double(dimension + 4));
}

/// The deviation of the coordinates of the points that have the parameter.
double deviation_of(const Parameter& parameter, const std::vector<const Point*>& points,
                    const std::vector<const std::vector<double>*>& units) {
    double sum = 0;
    double squares = 0;
    double count = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!points[i]->contains(parameter.path)) continue;
        const double u = (*units[i])[*parameter.dimension];
        sum += u;
        squares += u * u;
        ++count;
    }
    if (count < 2) return width_max;
    const double mean = sum / count;
    return std::sqrt(std::max(0.0, squares / count - mean * mean));
}

}    // namespace

ParzenMixture::ParzenMixture(const Space& space, const std::vector<const Point*>& points,
                             const std::vector<const std::vector<double>*>& units)
    : space_(space) {
    kernels_.assign(points.size() + 1, Kernel(space.dimension()));
    const double narrowing =
        scott_factor(std::max<std::size_t>(1, points.size()), space.dimension());
    const double width_min = 1.0 / std::min(100.0, 1.0 + double(points.size()));
    for (const Parameter& parameter : space.parameters()) {
        if (!parameter.dimension) continue;
        const double width =
            std::clamp(scott_fraction * narrowing * deviation_of(parameter, points, units),
                       width_min * width_floor, width_max);
        for (std::size_t i = 0; i < kernels_.size(); ++i) {
            Coordinate& one = kernels_[i][*parameter.dimension];
            const bool is_prior = i == points.size();
            if (!is_prior && !points[i]->contains(parameter.path)) continue;
            one.center = is_prior ? 0.5 : (*units[i])[*parameter.dimension];
            one.width = is_prior ? prior_width : width;
            one.below = normal_cdf(-one.center / one.width);
            one.inside = normal_cdf((1 - one.center) / one.width) - one.below;
            one.log_scale = stable_log(one.width * one.inside);
        }
    }
}

std::vector<double> ParzenMixture::draw(Draws& draws) const {
    const Kernel& kernel = kernels_[draws.next_below(kernels_.size())];
    std::vector<double> unit;
    for (const Parameter& parameter : space_.parameters()) {
        if (!parameter.dimension) continue;
        const Coordinate& one = kernel[*parameter.dimension];
        const double u = draws.next_uniform();
        const double v = draws.next_uniform();
        if (is_categorical(parameter.spec)) {
            const bool is_other =
                one.width == 0 || one.width == prior_width || v * double(kernels_.size()) < 1;
            unit.push_back(is_other ? u : one.center);
        } else if (one.width == 0) {
            unit.push_back(u);
        } else {
            const double p = std::clamp(one.below + u * one.inside, 0x1p-53, 1 - 0x1p-53);
            unit.push_back(std::clamp(one.center + one.width * normal_quantile(p), 0.0, 1.0));
        }
    }
    return unit;
}

double ParzenMixture::log_density(const Point& point) const {
    std::vector<std::optional<Interval>> at(space_.dimension());
    for (const Parameter& parameter : space_.parameters()) {
        const auto value = point.find(parameter.path);
        if (!parameter.dimension || value == point.end()) continue;
        at[*parameter.dimension] = interval_of(parameter.spec, value->second);
    }
    std::vector<double> logs;
    for (const Kernel& kernel : kernels_)
        logs.push_back(log_kernel(kernel, at));
    const double greatest = *std::ranges::max_element(logs);
    double sum = 0;
    for (const double one : logs)
        sum += stable_exp(one - greatest);
    return greatest + stable_log(sum / double(kernels_.size()));
}

double ParzenMixture::log_kernel(const Kernel& kernel,
                                 const std::vector<std::optional<Interval>>& at) const {
    double sum = 0;
    for (const Parameter& parameter : space_.parameters()) {
        if (!parameter.dimension || !at[*parameter.dimension]) continue;
        sum += log_coordinate(parameter, kernel[*parameter.dimension], *at[*parameter.dimension]);
    }
    return sum;
}

double ParzenMixture::log_coordinate(const Parameter& parameter, const Coordinate& coordinate,
                                     const Interval& at) const {
    if (coordinate.width == 0) return 0;
    if (is_categorical(parameter.spec)) {
        if (coordinate.width == prior_width) return 0;
        const double other = 1.0 / double(kernels_.size());
        const bool is_own = coordinate.center >= at.begin && coordinate.center < at.end;
        return stable_log(other + (is_own ? (1 - other) / (at.end - at.begin) : 0));
    }
    const double low = (at.begin - coordinate.center) / coordinate.width;
    const double length = (at.end - at.begin) / coordinate.width;
    if (length < 0.01) {
        // As good as a density, and without the difference of two numbers that are nearly equal.
        const double z = low + length / 2;
        return -0.5 * z * z - log_sqrt_2pi - coordinate.log_scale;
    }
    const double mass = normal_cdf(low + length) - normal_cdf(low);
    return stable_log(std::max(mass, 1e-300) / (coordinate.inside * (at.end - at.begin)));
}

}    // namespace slipway::search
