#pragma once

#include <span>

#include "executor/graph/tensor.h"

namespace slipway {

/// The sum of what flows to one value from its users, of which there is at least one. Gradients of
/// slices that lie side by side and cover the value are put together instead of being padded with
/// zeros and added: no value but the sign of a zero changes. Gradients of look-ups are added to the
/// rows of what else flows, not to zeros first: of a table that is also a layer's weight, one array
/// instead of three.
Tensor sum_of_flows(std::span<const Tensor> flows);

}    // namespace slipway
