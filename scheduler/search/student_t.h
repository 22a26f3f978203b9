#pragma once

namespace slipway::search {

/// Probability that a Student's t variable of `degrees` degrees of freedom is at most `t`, to
/// 1e-12. `degrees` >= 1; infinite t give 0 and 1.
double student_t_cdf(double t, double degrees);

/// The t with student_t_cdf(t, degrees) == p, to 1e-9. 0 < p < 1.
double student_t_quantile(double p, double degrees);

}    // namespace slipway::search
