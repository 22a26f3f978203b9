#pragma once

#include "executor/codegen/kernels/naive.h"
#include "executor/graph/tensor.h"

namespace slipway {

/// The element types of a product's operands and result.
/// errors  invalid_argument unless programs multiply them
ProductTypes product_types(const Tensor& tensor);

}    // namespace slipway
