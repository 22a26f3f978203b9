// Widths follow the points: a fraction of the deviation of the points that a mixture is made from,
// in each coordinate, times n^(-1 / (d + 4)) (Scott's rule for kernels of d coordinates). The
// mixture of the good points therefore narrows as they gather. Widths that depend on n and d alone,
// as Optuna's multivariate estimator has them, stay above a tenth of the range in a hundred trials
// (bench/search_quality.py compares).
//
// A point is compared with every kernel, and in many dimensions nearly all of them add less than
// the last digit of the sum. A kernel's bound (its density without what the cube cuts off) takes a
// multiplication for each parameter; only kernels whose bound comes near the greatest density are
// computed. The result has the bits of the whole sum, since stored searches are repeated: the sum
// is made twice, with nothing for each kernel that was passed over and with more than it can add.
// Rounding is monotone, so where both sums agree, the whole sum does. Where they differ, it is
// computed.

#include "scheduler/search/parzen.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
// A kernel that is passed over has less than e^-45 / n of the greatest one: all of them together
// have a thousandth of the last digit.
constexpr double passed_over_margin = 45;
constexpr double infinity = std::numeric_limits<double>::infinity();

double scott_factor(std::size_t count, std::size_t dimension) {
    return stable_exp(-stable_log(double(count)) / double(dimension + 4));
}

/// Whether each point has the parameter; empty: all have it.
std::vector<bool> which_have(const Parameter& parameter, std::size_t parameters,
                             const std::vector<PlacedPoint>& points) {
    std::vector<bool> exists;
    for (std::size_t i = 0; i < points.size(); ++i) {
        // Points are those of the space: as many values as parameters are all of them.
        const Point& point = *points[i].point;
        if (point.size() == parameters || point.contains(parameter.path)) continue;
        if (exists.empty()) exists.assign(points.size() + 1, true);
        exists[i] = false;
    }
    return exists;
}

/// The deviation of the coordinates of the points that have the parameter.
double deviation_of(std::size_t dimension, const std::vector<bool>& exists,
                    const std::vector<PlacedPoint>& points) {
    double sum = 0;
    double squares = 0;
    double count = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!exists.empty() && !exists[i]) continue;
        const double u = (*points[i].unit)[dimension];
        sum += u;
        squares += u * u;
        ++count;
    }
    if (count < 2) return width_max;
    const double mean = sum / count;
    return std::sqrt(std::max(0.0, squares / count - mean * mean));
}

/// No normal kernel of a row adds more than this at a place: the density at the nearest point of
/// it. A mass is never taken for less than 1e-300, so no bound falls below -600.
double normal_bound(double center, double inverse_width, double log_density_max,
                    const Interval& at) {
    const double outside = std::max(std::max(at.begin - center, center - at.end), 0.0);
    const double z = outside * inverse_width;
    return log_density_max - std::min(0.5 * z * z, 600.0);
}

}    // namespace

ParzenMixture::ParzenMixture(const Space& space, const std::vector<PlacedPoint>& points)
    : have_scales_(points.size() + 1), bounds_(points.size() + 1) {
    const double narrowing =
        scott_factor(std::max<std::size_t>(1, points.size()), space.dimension());
    const double width_min = 1.0 / std::min(100.0, 1.0 + double(points.size()));
    for (const Parameter& parameter : space.parameters()) {
        if (!parameter.dimension) continue;
        Row row{.parameter = &parameter,
                .exists = which_have(parameter, space.parameters().size(), points),
                .scales = std::vector<Scale>(points.size() + 1)};
        row.width = std::clamp(
            scott_fraction * narrowing * deviation_of(*parameter.dimension, row.exists, points),
            width_min * width_floor, width_max);
        // A centre at a bound has the least inside.
        const double inside_min = normal_cdf(1 / row.width) - 0.5 - 1e-9;
        row.log_density_max = -log_sqrt_2pi - stable_log(row.width * inside_min);
        row.centers.reserve(points.size() + 1);
        for (const PlacedPoint& one : points)
            row.centers.push_back((*one.unit)[*parameter.dimension]);
        row.centers.push_back(0.5);
        rows_.push_back(std::move(row));
    }
}

double ParzenMixture::width_of(const Row& row, std::size_t kernel) const {
    return kernel == last() ? prior_width : row.width;
}

void ParzenMixture::need_scales(const Kernels& kernels) {
    Kernels missing;
    for (const std::size_t kernel : kernels) {
        if (have_scales_[kernel]) continue;
        have_scales_[kernel] = true;
        missing.push_back(kernel);
    }
    if (missing.empty()) return;
    for (Row& row : rows_)
        if (!is_categorical(row.parameter->spec)) find_scales(row, missing);
}

void ParzenMixture::find_scales(Row& row, const Kernels& kernels) {
    scratch_.clear();
    for (const std::size_t kernel : kernels) {
        const double width = width_of(row, kernel);
        scratch_.push_back(-row.centers[kernel] / width);
        scratch_.push_back((1 - row.centers[kernel]) / width);
    }
    replace_by_normal_cdf(scratch_);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        Scale& one = row.scales[kernels[i]];
        one.below = scratch_[2 * i];
        one.inside = scratch_[2 * i + 1] - one.below;
        one.log_scale = stable_log(width_of(row, kernels[i]) * one.inside);
    }
}

std::vector<double> ParzenMixture::draw(Draws& draws) {
    const std::size_t kernel = draws.next_below(have_scales_.size());
    need_scales({kernel});
    std::vector<double> unit;
    for (const Row& row : rows_) {
        const bool is_uniform = !row.exists.empty() && !row.exists[kernel];
        const double center = row.centers[kernel];
        const double u = draws.next_uniform();
        const double v = draws.next_uniform();
        if (is_categorical(row.parameter->spec)) {
            const bool is_other =
                is_uniform || kernel == last() || v * double(have_scales_.size()) < 1;
            unit.push_back(is_other ? u : center);
        } else if (is_uniform) {
            unit.push_back(u);
        } else {
            const Scale& scale = row.scales[kernel];
            const double p = std::clamp(scale.below + u * scale.inside, 0x1p-53, 1 - 0x1p-53);
            unit.push_back(
                std::clamp(center + width_of(row, kernel) * normal_quantile(p), 0.0, 1.0));
        }
    }
    return unit;
}

double ParzenMixture::log_density(const Point& point) {
    const Places places = places_of(point);
    find_bounds(places);
    const double margin = passed_over_margin + stable_log(double(have_scales_.size()));
    if (const auto sum = log_sum(places, margin)) return *sum;
    return *log_sum(places, infinity);
}

ParzenMixture::Places ParzenMixture::places_of(const Point& point) const {
    Places places;
    for (const Row& row : rows_) {
        const auto value = point.find(row.parameter->path);
        places.push_back(value == point.end() ? std::nullopt
                                              : interval_of(row.parameter->spec, value->second));
    }
    return places;
}

/// The last bound is the logarithm itself.
void ParzenMixture::find_bounds(const Places& places) {
    near_ = {last()};
    find_logs(places);
    std::ranges::fill(bounds_, 0);
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (places[i]) add_bounds(rows_[i], *places[i]);
    bounds_[last()] = logs_[0];
}

void ParzenMixture::add_bounds(const Row& row, const Interval& at) {
    const auto add = [&](const auto& bound_of) {
        for (std::size_t i = 0; i < last(); ++i)
            if (row.exists.empty() || row.exists[i]) bounds_[i] += bound_of(row.centers[i]);
    };
    if (is_categorical(row.parameter->spec)) {
        const Choice choice = choice_of(at);
        add([&](double center) { return choice.log_for(center); });
    } else {
        const double inverse_width = 1 / row.width;
        add([&](double center) {
            return normal_bound(center, inverse_width, row.log_density_max, at);
        });
    }
}

ParzenMixture::Choice ParzenMixture::choice_of(const Interval& at) const {
    const double other = 1.0 / double(have_scales_.size());
    return {.at = at,
            .own = stable_log(other + (1 - other) / (at.end - at.begin)),
            .other = stable_log(other)};
}

/// The logarithm of the mixture at a place; none where the kernels that are further than `margin`
/// below the greatest one may matter.
std::optional<double> ParzenMixture::log_sum(const Places& places, double margin) {
    near_ = {std::size_t(std::ranges::max_element(bounds_) - bounds_.begin())};
    find_logs(places);
    // Bounds are rounded otherwise than logarithms, by far less than 1.
    const double least = std::max(bounds_[last()], logs_[0]) - margin - 1;
    near_.clear();
    for (std::size_t kernel = 0; kernel < bounds_.size(); ++kernel)
        if (bounds_[kernel] >= least) near_.push_back(kernel);
    find_logs(places);
    const double greatest = *std::ranges::max_element(logs_);
    const double negligible = stable_exp(-margin);
    scratch_.clear();
    for (const double one : logs_)
        scratch_.push_back(one - greatest);
    replace_by_exp(scratch_);
    double sum = 0;
    double sum_max = 0;
    std::size_t next = 0;
    for (std::size_t i = 0; i < near_.size(); ++i) {
        for (; next < near_[i]; ++next)
            sum_max += negligible;
        next = near_[i] + 1;
        sum += scratch_[i];
        sum_max += scratch_[i];
    }
    for (; next < bounds_.size(); ++next)
        sum_max += negligible;
    if (sum != sum_max) return std::nullopt;
    return greatest + stable_log(sum / double(bounds_.size()));
}

/// The logarithms of the kernels that are near.
void ParzenMixture::find_logs(const Places& places) {
    need_scales(near_);
    logs_.assign(near_.size(), 0);
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (places[i]) add_logs(rows_[i], *places[i]);
}

void ParzenMixture::add_logs(const Row& row, const Interval& at) {
    if (is_categorical(row.parameter->spec)) return add_choices(row, at);
    scratch_.clear();
    of_scratch_.clear();
    for (std::size_t i = 0; i < near_.size(); ++i) {
        const std::size_t kernel = near_[i];
        if (!row.exists.empty() && !row.exists[kernel]) continue;
        const double width = width_of(row, kernel);
        const double low = (at.begin - row.centers[kernel]) / width;
        const double length = (at.end - at.begin) / width;
        if (length < 0.01) {
            // As good as a density, and without the difference of numbers that are nearly equal.
            const double z = low + length / 2;
            logs_[i] += -0.5 * z * z - log_sqrt_2pi - row.scales[kernel].log_scale;
        } else {
            scratch_.push_back(low + length);
            scratch_.push_back(low);
            of_scratch_.push_back(i);
        }
    }
    replace_by_normal_cdf(scratch_);
    for (std::size_t j = 0; j < of_scratch_.size(); ++j) {
        const double mass = scratch_[2 * j] - scratch_[2 * j + 1];
        const double inside = row.scales[near_[of_scratch_[j]]].inside;
        logs_[of_scratch_[j]] +=
            stable_log(std::max(mass, 1e-300) / (inside * (at.end - at.begin)));
    }
}

void ParzenMixture::add_choices(const Row& row, const Interval& at) {
    const Choice choice = choice_of(at);
    for (std::size_t i = 0; i < near_.size(); ++i) {
        const std::size_t kernel = near_[i];
        if (kernel == last() || (!row.exists.empty() && !row.exists[kernel])) continue;
        logs_[i] += choice.log_for(row.centers[kernel]);
    }
}

}    // namespace slipway::search
