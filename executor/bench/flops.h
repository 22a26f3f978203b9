#pragma once

#include "executor/graph/tensor.h"

namespace slipway {

/// Multiplications and additions of the matmuls and convolutions of one step, over all cores: two
/// for each pair of numbers that meet. Zeros that a dilation puts between the numbers of a
/// convolution count nothing; those of its padding do, as everywhere. What a product leaves out of
/// a causal mask's upper half counts nothing. graph   after the passes: the work that is left
double product_flops(const Graph& graph, int cores);

}    // namespace slipway
