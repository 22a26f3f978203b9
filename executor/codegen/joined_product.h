#pragma once

#include "executor/graph/tensor.h"

/// Gradients of weights are products of each core's rows that are only added up: the product of all
/// cores' rows, one after the other. Made so, in the stage after, no core writes a product of its
/// own and nobody reads them all again to add them up; instead each core keeps its operands until
/// then. The workers share the rows of the result.
namespace slipway {

/// Whether the operand of this all_reduce, which nobody else reads, is such a product: in f32, of
/// per-core matrices that take at most half of the memory of their product.
bool pays_to_join(const Tensor& all_reduce);

}    // namespace slipway
