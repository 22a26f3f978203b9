// The logarithm and the exponential reduce their argument by powers of two, which is exact, and sum
// a series that is short on what remains. The normal distribution is a series of positive terms in
// the middle and a continued fraction in the tails, where a difference from 1 would lose all
// digits. Tables of minimax coefficients would be a little faster; these series can be checked by
// hand. The module is compiled without contraction into fused multiply-adds, which would round
// otherwise.
//
// Each of these is a chain of divisions that wait for each other, so the exponential and the normal
// distribution take eight numbers at once, each by the operations that one alone would take. They
// end early where further terms cannot change a bit.

#include "scheduler/search/stable_math.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace slipway::search {

namespace {

// ln 2 in two parts: products of the first with whole numbers are exact.
constexpr double ln2_high = 6.93147180369123816490e-01;
constexpr double ln2_low = 1.90821492927058770002e-10;
constexpr double inverse_sqrt_2pi = 0.39894228040143267794;

constexpr std::size_t block_size = 8;
using Block = double __attribute__((vector_size(block_size * sizeof(double))));

/// number * 2^k, exactly.
double times_power_of_two(double number, double k) {
    if (std::abs(k) > 1000) return std::ldexp(number, int(k));
    return number * std::bit_cast<double>(std::uint64_t(int(k) + 1023) << 52);
}

void exp_of_block(Block& x) {
    Block k;
    for (std::size_t i = 0; i < block_size; ++i)
        k[i] = std::floor(x[i] * 1.4426950408889634074 + 0.5);
    const Block r = (x - k * ln2_high) - k * ln2_low;
    Block sum = Block{} + 1;
    for (int n = 14; n >= 1; --n)
        sum = 1 + sum * r / double(n);
    for (std::size_t i = 0; i < block_size; ++i) {
        if (std::isnan(x[i])) continue;
        x[i] = x[i] > 709.782712893384 ? std::numeric_limits<double>::infinity()
               : x[i] < -745.2         ? 0
                                       : times_power_of_two(sum[i], k[i]);
    }
}

/// The density of the normal distribution.
void density_of_block(Block& x) {
    x = -0.5 * x * x;
    exp_of_block(x);
    x *= inverse_sqrt_2pi;
}

constexpr int fraction_levels = 120;

/// x + 1 / (x + 2 / (x + 3 / … (x + 120 / x))).
double whole_fraction(double x) {
    double fraction = x;
    for (int k = fraction_levels; k >= 1; --k)
        fraction = x + double(k) / fraction;
    return fraction;
}

/// The same for x >= 3, from fewer levels. What stands below a level is at least x and at most
/// x + (level + 1) / x. Each step is monotone, rounding included, so where both bounds lead to the
/// same number, all between them do.
void fraction_of_block(Block& x) {
    int last = 0;
    for (std::size_t i = 0; i < block_size; ++i)
        if (x[i] >= 3) last = std::max(last, 7 + int(600 / (x[i] * x[i])));
    last = std::min(last, fraction_levels);
    Block high = x + double(last + 1) / x;
    Block low = x;
    for (int k = last; k >= 1; --k) {
        const Block next = x + double(k) / low;
        low = x + double(k) / high;
        high = next;
    }
    for (std::size_t i = 0; i < block_size; ++i)
        x[i] = low[i] == high[i] ? low[i] : whole_fraction(x[i]);
}

/// P(X <= x), |x| >= 3, as 1 - phi(x) / (x + 1 / (x + 2 / …)).
void tail_of_block(Block& x) {
    Block fraction;
    for (std::size_t i = 0; i < block_size; ++i)
        fraction[i] = std::abs(x[i]);
    Block tail = fraction;
    density_of_block(tail);
    fraction_of_block(fraction);
    tail /= fraction;
    for (std::size_t i = 0; i < block_size; ++i)
        x[i] = x[i] < 0 ? tail[i] : 1 - tail[i];
}

/// P(X <= x), |x| < 3, as 1/2 + phi(x) (x + x^3 / 3 + x^5 / 15 + …).
void middle_of_block(Block& x) {
    Block term = x;
    Block sum = x;
    for (int n = 3; n < 121; n += 2) {
        term = term * x * x / double(n);
        const Block before = sum;
        sum += term;
        // Terms of one number have one sign and fall from here on: what adds nothing now never
        // will.
        if (n <= 10) continue;
        bool is_complete = true;
        for (std::size_t i = 0; i < block_size; ++i)
            is_complete = is_complete && sum[i] == before[i];
        if (is_complete) break;
    }
    density_of_block(x);
    x = 0.5 + x * sum;
}

/// Numbers that wait until there are enough for a block.
class Batch {
public:
    explicit Batch(void (*replace)(Block&)) : replace_(replace) {}

    void add(double& number) {
        if (count_ == 0) numbers_ = Block{} + number;
        numbers_[count_] = number;
        to_[count_++] = &number;
        if (count_ == block_size) finish();
    }
    void finish() {
        if (count_ == 0) return;
        replace_(numbers_);
        for (std::size_t i = 0; i < count_; ++i)
            *to_[i] = numbers_[i];
        count_ = 0;
    }

private:
    void (*replace_)(Block&);
    Block numbers_{};
    std::array<double*, block_size> to_{};
    std::size_t count_ = 0;
};

template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
    double sum = 0;
    for (const double coefficient : coefficients)
        sum = sum * x + coefficient;
    return sum;
}

// AS 241, highest power first.
constexpr std::array middle_top{2.5090809287301226727e+3, 3.3430575583588128105e+4,
                                6.7265770927008700853e+4, 4.5921953931549871457e+4,
                                1.3731693765509461125e+4, 1.9715909503065514427e+3,
                                1.3314166789178437745e+2, 3.3871328727963666080e+0};
constexpr std::array middle_bottom{5.2264952788528545610e+3, 2.8729085735721942674e+4,
                                   3.9307895800092710610e+4, 2.1213794301586595867e+4,
                                   5.3941960214247511077e+3, 6.8718700749205790830e+2,
                                   4.2313330701600911252e+1, 1.0};
constexpr std::array near_top{7.74545014278341407640e-4, 2.27238449892691845833e-2,
                              2.41780725177450611770e-1, 1.27045825245236838258e+0,
                              3.64784832476320460504e+0, 5.76949722146069140550e+0,
                              4.63033784615654529590e+0, 1.42343711074968357734e+0};
constexpr std::array near_bottom{1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                 1.51986665636164571966e-2, 1.48103976427480074590e-1,
                                 6.89767334985100004550e-1, 1.67638483018380384940e+0,
                                 2.05319162663775882187e+0, 1.0};
constexpr std::array far_top{2.01033439929228813265e-7, 2.71155556874348757815e-5,
                             1.24266094738807843860e-3, 2.65321895265761230930e-2,
                             2.96560571828504891230e-1, 1.78482653991729133580e+0,
                             5.46378491116411436990e+0, 6.65790464350110377720e+0};
constexpr std::array far_bottom{2.04426310338993978564e-15, 1.42151175831644588870e-7,
                                1.84631831751005468180e-5,  7.86869131145613259100e-4,
                                1.48753612908506148525e-2,  1.36929880922735805310e-1,
                                5.99832206555887937690e-1,  1.0};

}    // namespace

double stable_exp(double x) {
    Block block = Block{} + x;
    exp_of_block(block);
    return block[0];
}

void replace_by_exp(std::span<double> numbers) {
    Batch batch(exp_of_block);
    for (double& number : numbers)
        batch.add(number);
    batch.finish();
}

double stable_log(double x) {
    if (!(x > 0)) {
        return x == 0 ? -std::numeric_limits<double>::infinity()
                      : std::numeric_limits<double>::quiet_NaN();
    }
    if (std::isinf(x)) return x;
    int k = 0;
    double m = std::frexp(x, &k);
    if (m < 0.70710678118654752440) {
        m *= 2;
        --k;
    }
    const double f = (m - 1) / (m + 1);
    const double square = f * f;
    double sum = 0;
    for (int n = 25; n >= 3; n -= 2)
        sum = (sum + 1.0 / double(n)) * square;
    return double(k) * ln2_high + (double(k) * ln2_low + 2 * (f + f * sum));
}

double normal_cdf(double x) {
    replace_by_normal_cdf({&x, 1});
    return x;
}

void replace_by_normal_cdf(std::span<double> numbers) {
    Batch middle(middle_of_block);
    Batch tails(tail_of_block);
    for (double& number : numbers)
        (std::abs(number) >= 3 ? tails : middle).add(number);
    middle.finish();
    tails.finish();
}

double normal_quantile(double p) {
    const double q = p - 0.5;
    if (std::abs(q) <= 0.425) {
        const double r = 0.180625 - q * q;
        return q * polynomial(middle_top, r) / polynomial(middle_bottom, r);
    }
    double r = std::sqrt(-stable_log(q < 0 ? p : 1 - p));
    double x = 0;
    if (r <= 5) {
        r -= 1.6;
        x = polynomial(near_top, r) / polynomial(near_bottom, r);
    } else {
        r -= 5;
        x = polynomial(far_top, r) / polynomial(far_bottom, r);
    }
    return q < 0 ? -x : x;
}

double rounded_decimal(double number) {
    const std::string text = fmt::format("{:.12g}", number);
    double rounded = number;
    std::from_chars(text.data(), text.data() + text.size(), rounded);
    return rounded;
}

}    // namespace slipway::search
