// The distribution is the regularised incomplete beta function I_x(a, b) with x = v / (v + t^2),
// a = v / 2, b = 1/2. Its continued fraction is evaluated by Lentz's method (Press et al.,
// Numerical Recipes, 6.4), which converges fast for x < (a + 1) / (a + b + 2); beyond that the
// symmetry I_x(a, b) = 1 - I_(1-x)(b, a) is used. The quantile is a bisection: it is asked for once
// per comparison.
#include "scheduler/search/student_t.h"

#include <cmath>

#include "api/base/check.h"

namespace slipway::search {

namespace {

constexpr int fraction_steps_max = 1000;
constexpr double fraction_tolerance = 1e-16;
constexpr double smallest = 1e-300;

double away_from_zero(double value) {
    return std::abs(value) < smallest ? smallest : value;
}

double beta_fraction(double a, double b, double x) {
    double c = 1;
    double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
    double result = d;
    for (int m = 1; m <= fraction_steps_max; ++m) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (const double term : {even, odd}) {
            d = 1 / away_from_zero(1 + term * d);
            c = away_from_zero(1 + term / c);
            result *= d * c;
        }
        if (std::abs(d * c - 1) < fraction_tolerance) break;
    }
    return result;
}

double incomplete_beta(double a, double b, double x) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                  a * std::log(x) + b * std::log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}    // namespace

double student_t_cdf(double t, double degrees) {
    check(degrees >= 1, "Student's t has at least one degree of freedom");
    if (std::isinf(t)) return t > 0 ? 1 : 0;
    const double tail = incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2;
    return t > 0 ? 1 - tail : tail;
}

double student_t_quantile(double p, double degrees) {
    check(p > 0 && p < 1, "a quantile is of a probability between 0 and 1");
    if (p < 0.5) return -student_t_quantile(1 - p, degrees);
    double low = 0;
    double high = 1;
    while (student_t_cdf(high, degrees) < p && high < 1e12)
        high *= 2;
    for (int step = 0; step < 200 && high - low > 1e-12 * high; ++step) {
        const double middle = (low + high) / 2;
        (student_t_cdf(middle, degrees) < p ? low : high) = middle;
    }
    return (low + high) / 2;
}

}    // namespace slipway::search
