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

/// Whether the library is asked for the minimal filtering F(4x4, 3x3) of Lavin and Gray, "Fast
/// Algorithms for Convolutional Neural Networks", 2015: f32, windows of 3x3 side by side, and
/// enough tiles of 4x4 results to pay for transforming the weights. A quarter of the
/// multiplications; errors grow from about 1e-6 of the results' size to 2e-5. Measured on one
/// thread (reorders included), GFLOP/s of the direct convolution and of this:
///                                     forward   data      weights
///   16 images, 64 channels of 32x32   206 349   175 335   190 301
///   32 images, 128 channels of 16x16  237 470   241 451   229 392
///   32 images, 256 channels of 8x8    248 435   256 425   208 426
///   16 images, 256 channels of 8x8    221 317   242 333   211 462    (64 tiles)
///    8 images, 256 channels of 8x8    251 228   251 226   214 287    (32 tiles)
///   32 images, 512 channels of 4x4    239 212   266 235   148 301    (32 tiles)
///   16 images, 512 channels of 4x4    199 131   242 128   132 161    (16 tiles)
///  128 images, 32 to 64 of 14x14      191 193   183 186   185 190    (inside a step)
bool is_winograd(const ConvolutionSpec& spec);

/// Sums are kept in f32.
/// returns nothing when the library does not take it: other than 1 to 3 spatial dimensions, empty
/// extents, strides below 1, padding or types it refuses
std::optional<LibraryKernel> make_convolution(const ConvolutionSpec& spec, int workers);

}    // namespace slipway
