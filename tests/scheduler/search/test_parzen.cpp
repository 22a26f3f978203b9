#include "scheduler/search/parzen.h"

#include <algorithm>
#include <cmath>

#include "scheduler/search/stable_math.h"
#include "tests/scheduler/search/spaces.h"

namespace slipway::search {
namespace {

struct Placed {
    std::vector<double> unit;
    Point point;
};

std::vector<Placed> points_of(const Space& space, std::size_t count, double spread,
                              std::uint64_t seed) {
    Draws draws(seed, DrawSite::random, 0);
    std::vector<Placed> placed(count);
    for (Placed& one : placed) {
        for (std::size_t i = 0; i < space.dimension(); ++i)
            one.unit.push_back(0.5 + (draws.next_uniform() - 0.5) * spread);
        one.point = space.point_at(one.unit);
    }
    return placed;
}

std::vector<PlacedPoint> views_of(const std::vector<Placed>& placed) {
    std::vector<PlacedPoint> views;
    for (const Placed& one : placed)
        views.push_back({&one.point, &one.unit});
    return views;
}

/// The width of the kernels of a parameter.
double width_of(const Parameter& parameter, const std::vector<Placed>& placed,
                std::size_t dimension) {
    double sum = 0, squares = 0, count = 0;
    for (const Placed& one : placed) {
        if (!one.point.contains(parameter.path)) continue;
        const double u = one.unit[*parameter.dimension];
        sum += u;
        squares += u * u;
        ++count;
    }
    const double n = double(placed.size());
    const double narrowing = stable_exp(-stable_log(std::max(1.0, n)) / double(dimension + 4));
    const double deviation =
        count < 2 ? 0.5 : std::sqrt(std::max(0.0, squares / count - (sum / count) * (sum / count)));
    return std::clamp(0.5 * narrowing * deviation, 1 / std::min(100.0, 1 + n) * 0.5, 0.5);
}

double log_number(double center, double width, const Interval& at) {
    const double below = normal_cdf(-center / width);
    const double inside = normal_cdf((1 - center) / width) - below;
    const double low = (at.begin - center) / width;
    const double length = (at.end - at.begin) / width;
    if (length < 0.01) {
        const double z = low + length / 2;
        return -0.5 * z * z - 0.91893853320467274178 - stable_log(width * inside);
    }
    const double mass = normal_cdf(low + length) - normal_cdf(low);
    return stable_log(std::max(mass, 1e-300) / (inside * (at.end - at.begin)));
}

/// The logarithm of the density as its definition has it: each kernel, one after the other.
double whole_log_density(const Space& space, const std::vector<Placed>& placed,
                         const Point& point) {
    const std::size_t kernels = placed.size() + 1;
    std::vector<double> logs(kernels, 0);
    for (const Parameter& parameter : space.parameters()) {
        if (!parameter.dimension || !point.contains(parameter.path)) continue;
        const Interval at = *interval_of(parameter.spec, point.at(parameter.path));
        const double width = width_of(parameter, placed, space.dimension());
        for (std::size_t i = 0; i < kernels; ++i) {
            const bool is_last = i == placed.size();
            if (!is_last && !placed[i].point.contains(parameter.path)) continue;
            const double center = is_last ? 0.5 : placed[i].unit[*parameter.dimension];
            if (!is_categorical(parameter.spec)) {
                logs[i] += log_number(center, is_last ? 1 : width, at);
            } else if (!is_last) {
                const double other = 1 / double(kernels);
                const bool is_own = center >= at.begin && center < at.end;
                logs[i] += stable_log(other + (is_own ? (1 - other) / (at.end - at.begin) : 0));
            }
        }
    }
    const double greatest = *std::ranges::max_element(logs);
    double sum = 0;
    for (const double one : logs)
        sum += stable_exp(one - greatest);
    return greatest + stable_log(sum / double(kernels));
}

constexpr const char* all_types = R"({"space": {
    "a": {"type": "log_uniform", "min": 1e-4, "max": 1},
    "b": {"type": "int_uniform", "min": 1, "max": 64},
    "c": {"type": "log_int_uniform", "min": 8, "max": 512},
    "d": {"type": "choice", "values": ["x", "y", "z"]},
    "e": {"type": "uniform", "min": 0, "max": 1, "when": {"d": ["x"]}},
    "f": {"type": "int_uniform", "min": 0, "max": 3, "when": {"d": ["x", "y"]}},
    "g": {"type": "choice", "values": [1, 2], "when": {"d": ["z"]}},
    "h": {"type": "normal", "mean": 0, "std": 1},
    "i": {"type": "log_normal", "mean": 0, "std": 1, "step": 0.1},
    "j": {"type": "choice", "values": [1, 2, 4], "ordered": true},
    "k": {"type": "constant", "value": 7}}})";

std::string many_numbers(int count) {
    Json space = Json::object();
    for (int i = 0; i < count; ++i)
        space["x" + std::to_string(i)] = {{"type", "uniform"}, {"min", -1}, {"max", 1}};
    return Json{{"space", space}}.dump();
}

// Goal: kernels that are passed over change no bit of a density.
// Method: the definition, for points that are close together, far apart, and on each other.
TEST(Parzen, a_density_has_the_bits_of_the_whole_sum) {
    for (const std::string& text :
         {std::string(all_types), many_numbers(1), many_numbers(3), many_numbers(20)}) {
        const Space space = compiled_space(text);
        for (const std::size_t count : {0, 1, 2, 25, 400}) {
            for (const double spread : {0.0, 0.02, 1.0}) {
                const std::vector<Placed> placed = points_of(space, count, spread, count);
                ParzenMixture mixture(space, views_of(placed));
                Draws draws(2, DrawSite::tpe, count);
                std::vector<Placed> asked = points_of(space, 6, 1, 99);
                for (int i = 0; i < 6; ++i)
                    asked.push_back({.unit = {}, .point = space.point_at(mixture.draw(draws))});
                for (const Placed& one : asked)
                    EXPECT_EQ(mixture.log_density(one.point),
                              whole_log_density(space, placed, one.point))
                        << space.dimension() << " " << count << " " << spread;
            }
        }
    }
}

TEST(Parzen, points_of_a_finite_space_have_mass_one) {
    const Space space = compiled_space(R"({"space": {
        "a": {"type": "int_uniform", "min": 1, "max": 9},
        "b": {"type": "choice", "values": ["x", "y", "z"]}}})");
    const std::vector<Placed> placed = points_of(space, 10, 1, 5);
    ParzenMixture mixture(space, views_of(placed));
    double mass = 0;
    for (int a = 0; a < 9; ++a)
        for (int b = 0; b < 3; ++b)
            mass += std::exp(mixture.log_density(
                        space.point_at(std::vector{(a + 0.5) / 9, (b + 0.5) / 3}))) /
                    27;
    EXPECT_NEAR(mass, 1, 1e-12);
}

}    // namespace
}    // namespace slipway::search
