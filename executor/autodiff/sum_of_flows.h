#pragma once

#include <span>

#include "executor/graph/tensor.h"

namespace slipway {

/// The sum of what flows to one value from its users, of which there is at least one. Gradients of
/// slices that lie side by side and cover the value are put together instead of being padded with
/// zeros and added: no value but the sign of a zero changes.
Tensor sum_of_flows(std::span<const Tensor> flows);

}    // namespace slipway
