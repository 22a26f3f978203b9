#pragma once

#include <string>

#include "executor/graph/tensor.h"

/// How StableHLO writes types, numbers and attributes.
namespace slipway::stablehlo {

/// "tensor<2x3xf32>".
std::string type_of(const Shape& shape);
/// "dense<1.0> : tensor<f32>"; infinities and NaN as bits.
std::string scalar(double value, DType dtype);
/// "array<i64: 1, 2>".
std::string list(const Dims& dims);
/// What stands between the braces after an op; empty when there is nothing. `cores` is the number
/// of replicas that ops over all cores name.
std::string attributes_of(const Node& node, int cores);
/// What stands there of a sum over each aligned block of so many of the cores, and of one over the
/// cores that have the same place in their blocks.
std::string groups_of_blocks(int cores, int block);
std::string groups_across_blocks(int cores, int block);
/// The op's name without its dialect: that of op_table.h but for scatter_add.
std::string name_of(const Node& node);

}    // namespace slipway::stablehlo
