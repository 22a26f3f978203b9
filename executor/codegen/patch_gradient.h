#pragma once

#include <optional>

#include "executor/codegen/onednn/convolution.h"
#include "executor/codegen/onednn/library_kernel.h"

namespace slipway {

/// The gradient of a convolution's weights as a sum of products of matrices: some images' dy^T
/// times their patches at a time, as many as stay in a core's second-level cache.
/// Call: reads x and y, both channels-last; writes[0] = the sum as [o, window..., c].
/// returns nothing where the library's gradient is better, or it does not take the products
std::optional<LibraryKernel> make_patch_gradient(const ConvolutionSpec& spec, int workers);

}    // namespace slipway
