#pragma once

#include <optional>

#include "executor/codegen/onednn/convolution.h"
#include "executor/codegen/onednn/library_kernel.h"
#include "executor/codegen/onednn/matmul.h"
#include "executor/codegen/stacked_product.h"

namespace slipway {

/// From where on filtering pays, and what stays in a core's caches. Tests go lower.
struct FilteringLimits {
    /// Images and weights in bf16 as well, multiplied in f32: a quarter of the multiplications at
    /// half of bf16's rate is less, at an eighth of it (tiles) it is not.
    bool takes_bf16 = !multiplies_bf16_in_tiles();
    std::int64_t channels_min_in_bf16 = 64;
    /// Half as many for the gradient of the weights, twice as many in bf16.
    std::int64_t tiles_min = 32;
    std::int64_t tiles_at_once = 64;
    /// Of transformed weights, half as many in bf16; beyond, the results' channels are done slice
    /// by slice.
    std::int64_t weights_bytes_max = 5 << 19;
    /// Of the transformed windows of all tiles, which slices share; beyond, there is one slice.
    std::int64_t windows_bytes_max = 32 << 20;
    /// Of the planes of a gradient of weights of few tiles, which stay in a core's caches; and of
    /// those of all cores' images, which each worker makes for itself.
    std::int64_t gradient_planes_bytes_max = 3 << 19;
    std::int64_t direct_bytes_max = 1 << 20;
};

/// The convolution by minimal filtering F(4x4, 3x3) (executor/codegen/kernels/minimal_filtering.h):
/// our transforms of channels-last images, a few tiles at a time so that they stay in the caches,
/// and the library's products in f32. Errors grow from about 1e-6 of the results' size to 2e-5.
/// Call as ConvolutionSpec says; with a packing, the weights of the first two kinds come
/// transformed, else each call transforms a slice of them at a time. A number that is not finite
/// spoils its tile of 4x4 results.
/// returns nothing where it does not apply (other types, windows, layouts; channels that do not
/// fill registers) or where the direct convolution is faster
std::optional<LibraryKernel> make_filtered_convolution(const ConvolutionSpec& spec, int workers,
                                                       const FilteringLimits& limits = {});

/// The gradient of the weights over all cores: the transformed tiles of dy and windows of x of all
/// cores lie one core's after the other's, and workers share blocks of the output features. Where
/// they are few bytes nothing is gathered: each worker transforms what its blocks need.
/// spec  of one core, of the kind backward_weights
/// returns nothing where it does not apply or would not pay for the images of all cores
std::optional<StackedGradient> make_filtered_gradient(const ConvolutionSpec& spec, int cores,
                                                      int workers,
                                                      const FilteringLimits& limits = {});

}    // namespace slipway
