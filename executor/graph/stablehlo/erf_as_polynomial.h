#pragma once

#include "executor/graph/tensor.h"

namespace slipway {

/// erf in ops StableHLO has: x P(x²) / Q(x²), with x clamped to where erf is 1. Calculated in f32,
/// within 5e-7.
Tensor erf_as_polynomial(const Tensor& x);

}    // namespace slipway
