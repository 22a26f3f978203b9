#pragma once

#include "executor/graph/tensor.h"

/// Gradients of weights are products of each core's rows that are only added up: the product of all
/// cores' rows, one after the other. Made so, in the stage after, no core writes a product of its
/// own and nobody reads them all again to add them up; instead each core keeps its operands until
/// then. The workers share the rows of the result.
namespace slipway {

/// Whether it is a product in f32 of per-core matrices that take no more memory than it does, or
/// the gradient of a convolution's weights that may pay (joined_gradient.h). Of bf16 that the
/// processor multiplies in tiles only where a core's rows are few.
bool pays_to_join(const Tensor& tensor);

/// Whether it is a scatter_add of what each core has: of the gradients of a look-up in a table that
/// is multiplied as well. It may be batched with the product to which it adds.
bool is_scatter_of_cores(const Tensor& tensor);

}    // namespace slipway
