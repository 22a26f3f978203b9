#pragma once

#include <span>
#include <vector>

#include "executor/graph/tensor.h"

namespace slipway {

/// d loss / d parameter for each parameter, as new nodes of the same graph: reverse mode, graph to
/// graph; the rules are those of op_table.h. loss is a scalar of floating dtype; a parameter is any
/// node, most often an input.
///
/// When loss is per core, so is a gradient: this core's share. Their sum over the cores, by
/// all_reduce, is the gradient of the summed loss. A parameter the loss does not depend on gets
/// zeros of its shape, and those are replicated.
///
/// An all_reduce between loss and a parameter (a mean over all cores) is gone through: each core's
/// loss moves with every core's term.
///
/// errors  invalid_argument when loss is no floating scalar, or a node between loss and a parameter
///         has no gradient (named, with the reason), or an all_reduce is used in a way that leaves
///         open how often what flows back counts
std::vector<Tensor> gradients(const Tensor& loss, std::span<const Tensor> parameters);

}    // namespace slipway
