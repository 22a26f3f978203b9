#pragma once

#include <span>

namespace slipway::search {

// Functions that give the same bits on every machine. They are built from +, -, *, / and square
// roots, which IEEE 754 rounds exactly; the C library's own differ in the last bit between
// versions, and a search is replayed from its observations on any machine. Relative error at most
// 1e-15 where nothing else is said.

/// e^x; 0 below -745, infinity above 709.78.
double stable_exp(double x);

/// Natural logarithm. x > 0.
double stable_log(double x);

/// Probability that a standard normal number is at most x. Relative error at most 1e-13.
double normal_cdf(double x);

/// Each number is replaced by stable_exp() or normal_cdf() of it, the same bits in a fraction of
/// the time that as many calls take.
void replace_by_exp(std::span<double> numbers);
void replace_by_normal_cdf(std::span<double> numbers);

/// The x with normal_cdf(x) == p, to 1e-15 (Wichura, algorithm AS 241, 1988). 0 < p < 1.
double normal_quantile(double p);

/// `number` as the nearest decimal of 12 digits: 0.3 for 0.1 + 2 * 0.1.
double rounded_decimal(double number);

}    // namespace slipway::search
