#pragma once

#include "executor/graph/tensor.h"

namespace slipway {

/// x; repeated to y's dims when x is a scalar and y is not.
Tensor spread_scalar(const Tensor& x, const Tensor& y);

/// The op of two numbers, a scalar beside a larger operand repeated.
Tensor binary(OpCode op, const Tensor& x, const Tensor& y);

}    // namespace slipway
