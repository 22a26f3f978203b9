#pragma once

#include <optional>

#include "executor/codegen/kernels/view.h"
#include "executor/codegen/onednn/library_kernel.h"
#include "executor/tensor/dtype.h"

namespace slipway {

enum class ConvolutionKind : std::uint8_t { forward, backward_data, backward_weights };

/// A forward convolution y = x * w, and which of the three is the unknown. Views are by role, with
/// positive strides in any order: x [n, c, spatial...], w [groups, o/groups, c/groups, spatial...],
/// y [n, o, spatial...]. Channels-last images are used as they lie.
/// Call: reads forward (x, w), backward_data (y, w), backward_weights (x, y); writes[0] the third.
struct ConvolutionSpec {
    ConvolutionKind kind = ConvolutionKind::forward;
    View x, w, y;
    Dims strides, dilations;    ///< by spatial dimension; 1 = none
    Dims padding_low, padding_high;
    DType operands = DType::f32;
    DType results = DType::f32;
    /// Let the library choose how w lies: the kernel's packing makes it of w, or w of it.
    bool packs_weights = false;
};

/// Sums are kept in f32.
/// returns nothing when the library does not take it: other than 1 to 3 spatial dimensions, empty
/// extents, strides below 1, padding or types it refuses
std::optional<LibraryKernel> make_convolution(const ConvolutionSpec& spec, int workers);

}    // namespace slipway
